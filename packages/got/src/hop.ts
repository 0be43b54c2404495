import { errorMonitor } from 'node:events'
import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Outcome, Pacer, Permit, RequestOptions } from '@hostpace/core'
import type { Options } from 'got'
import { holdTimeout } from './timeout.ts'

/** What the caller may say of one hop. */
export type HopOptions = Omit<RequestOptions, 'skip'>

/** One hop: waits for its permit and holds it until the body of the answer has ended, failed or been thrown away. */
export class Hop {
  readonly #options: Options
  readonly #abort = new AbortController()
  readonly #unwatch: () => void
  #permit: Permit | undefined
  #isWritten = false

  /** @param options got's for this hop; their signal and their body may give it up */
  constructor(options: Options) {
    this.#options = options
    const { signal } = options
    const body = isEmitter(options.body) ? options.body : undefined
    const giveUp = () => this.giveUp()
    signal?.addEventListener('abort', giveUp)
    body?.on('error', giveUp)
    this.#unwatch = () => {
      signal?.removeEventListener('abort', giveUp)
      body?.off('error', giveUp)
    }
    if (signal?.aborted) giveUp()
  }

  /** Waits until it may leave. */
  async wait(pacer: Pacer, own: HopOptions): Promise<void> {
    const { signal } = this.#abort
    const endHold = holdTimeout(this.#options)
    try {
      const url = this.#options.url as URL
      this.#permit = await pacer.wait(url, { ...own, signal, reportsSent: true, request: this.#options })
    } finally {
      endHold()
    }
    if (signal.aborted) {
      // It was given up in the very turn in which it was let go.
      this.end()
      throw signal.reason
    }
  }

  /**
   * Follows the request to its end: when it is on the wire, what is answered, and when that is over. A function of the
   * user may answer by itself instead; that never is on the wire, so its place is free again.
   *
   * @param request of node:http, or what looks like it
   */
  follow(request: ClientRequest): void {
    let sentAtMs = performance.now()
    const sent = () => {
      sentAtMs = performance.now()
      this.#isWritten = true
      // After the write and not before it: should this process lose its processor in between, the gap still holds.
      setImmediate(() => this.#permit?.sent())
    }
    whenWritten(request, sent)
    request.once(errorMonitor, (error) => this.end({ error }))
    // Over HTTP/2 a request may say that it is closed before it says why.
    request.once('close', () => setImmediate(() => this.end()))
    request.once('response', (response) => {
      // It is so even where nobody saw a socket: a request function of the user may hand a request over late.
      this.#permit?.sent()
      const latencyMs = performance.now() - sentAtMs
      this.#permit?.observe({ status: response.statusCode, headers: response.headers, latencyMs })
      response.once('end', () => this.end())
    })
  }

  /**
   * Ends the wait, or frees the permit: a request that is destroyed may never say that it is over. Nobody is told;
   * got has rejected the call by itself, with an error of its own.
   */
  giveUp(): void {
    this.#abort.abort()
    this.end()
  }

  /** Frees the permit. Only the first call counts. */
  end(outcome?: Outcome): void {
    // It may be given up between the write and our saying so; the host has seen it all the same.
    if (this.#isWritten) this.#permit?.sent()
    this.#permit?.done(outcome)
    this.#unwatch()
  }
}

/** Calls `written` when the request goes to the wire: with a socket that stands at once, else when it is connected. */
function whenWritten(request: ClientRequest, written: () => void): void {
  request.once('socket', (socket: Socket | TLSSocket) => {
    if (!socket.connecting && !isHandshaking(socket)) written()
    else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', written)
  })
}

function isHandshaking(socket: Socket | TLSSocket): boolean {
  return 'secureConnecting' in socket && socket.secureConnecting === true
}

interface Emitter {
  on(name: string, listener: () => void): unknown
  off(name: string, listener: () => void): unknown
}

function isEmitter(body: unknown): body is Emitter {
  return typeof (body as { off?: unknown } | undefined)?.off === 'function'
}
