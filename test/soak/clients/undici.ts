import { Writable } from 'node:stream'
import type { Pacer } from '@hostpace/core'
import { pace } from '@hostpace/undici'
import { Agent, type Dispatcher, fetch, interceptors, request, stream } from 'undici'
import { type Answer, type Call, type ClientGroup, readBody, timeoutMs } from './client.ts'

/** undici by three of its ways, and with its own retries. */
export function undiciClients(pacer: Pacer): ClientGroup {
  const agent = new Agent({ headersTimeout: timeoutMs, bodyTimeout: timeoutMs })
  // The pacer comes first, so that it sees each hop and each repeat.
  const dispatcher = agent.compose(pace(pacer), interceptors.redirect({ maxRedirections: 10 }))
  const retrying = dispatcher.compose(interceptors.retry({ maxRetries: 1, minTimeout: 10, maxTimeout: 2000 }))
  const optionsFor = ({ signal, hostpace, retries }: Call) => ({
    dispatcher: retries === 0 ? dispatcher : retrying,
    ...(signal && { signal }),
    hostpace,
  })

  async function viaRequest(call: Call): Promise<Answer> {
    const { statusCode, body } = await request(call.url, optionsFor(call))
    if (statusCode < 400) return { status: statusCode, text: await readBody(body, call.onBody) }
    await body.dump()
    return { status: statusCode, text: undefined }
  }

  async function viaStream(call: Call): Promise<Answer> {
    let status = 0
    const sink = new Sink(call.onBody)
    const factory = ({ statusCode }: Dispatcher.StreamFactoryData) => {
      status = statusCode
      return sink
    }
    try {
      await stream(call.url, { ...optionsFor(call), method: 'GET' }, factory)
      return { status, text: sink.text }
    } catch (error) {
      if (sink.hasHungUp) return { status, text: undefined }
      throw error
    }
  }

  async function viaFetch({ url, signal, onBody }: Call): Promise<Answer> {
    const response = await fetch(url, { dispatcher, ...(signal && { signal }) })
    if (!response.ok || response.body === null) {
      await response.body?.cancel()
      return { status: response.status, text: undefined }
    }
    return { status: response.status, text: await readBody(response.body, onBody) }
  }

  return {
    clients: [
      { name: 'undici request', isBlind: false, takesOptions: true, send: viaRequest },
      { name: 'undici stream', isBlind: false, takesOptions: true, send: viaStream },
      { name: 'undici fetch', isBlind: false, takesOptions: false, send: viaFetch },
    ],
    busy: () => runningRequests(agent),
    close: () => agent.close(),
  }
}

/** How many requests an agent of undici has not finished. */
export function runningRequests({ stats }: Agent): number {
  return Object.values(stats).reduce((sum, { running, pending }) => sum + running + pending, 0)
}

/** Takes a body, or hangs up in the middle by being destroyed. */
class Sink extends Writable {
  text = ''
  hasHungUp = false
  readonly #onBody: () => boolean

  constructor(onBody: () => boolean) {
    super()
    this.#onBody = onBody
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    if (this.text === '' && this.#onBody()) {
      this.hasHungUp = true
      this.destroy()
    } else {
      this.text += chunk.toString()
      done()
    }
  }
}
