import type { Pacer, Permit, RequestOptions, WaitOptions } from '@hostpace/core'
import type { GotReturn, Options } from 'got'
import { type NativeRequest, watchHop } from './hop.ts'
import { holdTimeout } from './timeout.ts'
import { type Giver, watchWait } from './watch-wait.ts'

type RequestFunction = (...args: unknown[]) => unknown

type Hook = Options['hooks']['beforeRequest'][number] & { [pacerOfHook]?: Pacer }

/** Marks a hook with its pacer, also for another copy of this package. */
const pacerOfHook = Symbol.for('hostpace.got.pacer')

/**
 * One call of got, with all of its hops.
 *
 * A hook of got runs before each hop, knows its options and is handed on to redirects, retries and pages. It puts
 * itself between got and the function that really sends (`getRequestFunction`), which lies below got's cache
 * and after all other hooks: there the URL is final and whatever comes through leaves.
 */
export class Call {
  readonly #pacer: Pacer
  readonly #options: Options
  /** What ends the waits: of the call, or of each attempt of a stream, which is a stream of its own. */
  readonly #givers = new Map<number, Giver>()
  readonly #open = new Set<Permit>()
  #isFirstHop = true

  constructor(pacer: Pacer, options: Options) {
    this.#pacer = pacer
    this.#options = options
  }

  start(next: (options: Options) => GotReturn): GotReturn {
    const hooks = this.#options.hooks.beforeRequest as Hook[]
    const earlier = hooks.findIndex((hook) => hook[pacerOfHook] === this.#pacer)
    if (earlier >= 0) hooks.splice(earlier, 1)
    const hook: Hook = (options, { retryCount }) => this.#standBefore(options as unknown as Options, retryCount)
    hook[pacerOfHook] = this.#pacer
    hooks.push(hook)
    const result = next(this.#options)
    if (isStream(result)) this.#watchStream(result, 0)
    else this.#watchCancel(result as unknown as Cancelable)
    return result
  }

  /** Takes the place of the function that sends this hop. */
  #standBefore(options: Options, retryCount: number): void {
    const original = options.getRequestFunction as () => RequestFunction | undefined
    Object.defineProperty(options, 'getRequestFunction', {
      configurable: true,
      value: () => {
        const send = original.call(options) as RequestFunction
        return (...args: unknown[]) => this.#send(options, retryCount, send, args)
      },
    })
  }

  async #send(options: Options, retryCount: number, send: RequestFunction, args: unknown[]): Promise<unknown> {
    const permit = await this.#wait(options, retryCount)
    if (permit === undefined) return passOn(options, send, args)
    this.#open.add(permit)
    try {
      const request = await passOn(options, send, args)
      watchHop(request as NativeRequest, permit, () => this.#open.delete(permit))
      return request
    } catch (error) {
      this.#open.delete(permit)
      permit.done({ error })
      throw error
    }
  }

  /** Waits for the permit of a hop; `undefined` for one that is not paced. */
  async #wait(options: Options, retryCount: number): Promise<Permit | undefined> {
    const { skip, key, reservation, ...own } = ownOptions(options)
    const url = options.url as URL
    const firstUrl = this.#options.url as URL | undefined
    const isFirstHop = this.#isFirstHop
    this.#isFirstHop = false
    // What the caller says of a host does not hold for the one that a redirect leads to.
    const ownKey = firstUrl === undefined || firstUrl.origin === url.origin ? key : undefined
    if (skip || (ownKey === undefined && isUnixSocket(url))) return undefined

    const giver = this.#giverOf(retryCount)
    const stopWatching = watchWait(giver, options)
    const endHold = holdTimeout(options)
    const waitOptions: WaitOptions = { ...own, key: ownKey, signal: giver.signal, reportsSent: true, request: options }
    try {
      return await this.#pacer.wait(url, isFirstHop ? { ...waitOptions, reservation } : waitOptions)
    } finally {
      endHold()
      stopWatching()
    }
  }

  #giverOf(retryCount: number): Giver {
    // Attempts of a promise are all ended by the same; each attempt of a stream has a stream of its own.
    const attempt = this.#options.isStream ? retryCount : 0
    const known = this.#givers.get(attempt)
    if (known !== undefined) return known
    const giver = new AbortController()
    this.#givers.set(attempt, giver)
    return giver
  }

  #watchCancel(promise: Cancelable): void {
    const { cancel } = promise
    // Only got 14 has it.
    if (typeof cancel !== 'function') return
    promise.cancel = (...args) => {
      cancel.apply(promise, args)
      this.#giveUp(0)
    }
  }

  #watchStream(stream: StreamLike, attempt: number): void {
    stream.once('close', () => this.#giveUp(attempt))
    const { emit } = stream
    // Whoever listens to `retry` makes the stream of the next attempt by what comes with the event.
    stream.emit = (name, ...args) => {
      if (name !== 'retry') return emit.call(stream, name, ...args)
      const [retryCount, error, createRetryStream] = args as [number, unknown, (...args: unknown[]) => StreamLike]
      const createWatched = (...args: unknown[]) => {
        const next = createRetryStream(...args)
        this.#watchStream(next, retryCount)
        return next
      }
      return emit.call(stream, name, retryCount, error, createWatched)
    }
  }

  /** Ends the waits of an attempt, and what it left open: a request that is destroyed may never say that it is over. */
  #giveUp(attempt: number): void {
    this.#giverOf(attempt).abort()
    for (const permit of this.#open) permit.done()
    this.#open.clear()
  }
}

interface Cancelable {
  cancel?: (...args: unknown[]) => void
}

interface StreamLike {
  once(name: string, listener: () => void): unknown
  emit(name: string | symbol, ...args: unknown[]): boolean
}

function isStream(result: unknown): result is StreamLike {
  return typeof (result as { pipe?: unknown }).pipe === 'function'
}

function ownOptions(options: Options): RequestOptions {
  return (options.context.hostpace as RequestOptions | undefined) ?? {}
}

/** `unix:` URLs, and `http://unix:/socket:/path`. */
function isUnixSocket(url: URL): boolean {
  return url.protocol === 'unix:' || (url.hostname === 'unix' && url.pathname.includes(':'))
}

async function passOn(options: Options, send: RequestFunction, args: unknown[]): Promise<unknown> {
  // A request function of the user may leave it to got; got 14 forgets to look for that below its cache.
  return (await send(...args)) ?? (options.getFallbackRequestFunction() as RequestFunction)(...args)
}
