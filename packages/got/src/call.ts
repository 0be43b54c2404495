import type { ClientRequest } from 'node:http'
import { type Pacer, readRequestOptions } from '@hostpace/core'
import type { GotReturn, Options } from 'got'
import type { HopOptions } from './hop.ts'
import { HopChain } from './hop-chain.ts'
import { restoreTimeout } from './timeout.ts'

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
  readonly #chains = new Map<number, HopChain>()
  #retryCount = 0

  constructor(pacer: Pacer, options: Options) {
    this.#pacer = pacer
    this.#options = options
  }

  start(next: (options: Options) => GotReturn): GotReturn {
    this.#addHook()
    const result = next(this.#options)
    if (isStream(result)) this.#watchStream(result, 0)
    else this.#watchCancel(result as unknown as Cancelable)
    return result
  }

  /** A pacer has one hook, however often it is installed and wherever the options have been before. */
  #addHook(): void {
    const hooks = this.#options.hooks.beforeRequest as Hook[]
    const earlier = hooks.findIndex((hook) => hook[pacerOfHook] === this.#pacer)
    if (earlier >= 0) hooks.splice(earlier, 1)
    const hook: Hook = (options, { retryCount }) => this.#standBefore(options as unknown as Options, retryCount)
    hook[pacerOfHook] = this.#pacer
    hooks.push(hook)
  }

  /** Takes the place of the function that sends this hop. */
  #standBefore(options: Options, retryCount: number): void {
    if (retryCount !== this.#retryCount) restoreTimeout(options)
    this.#retryCount = retryCount
    const original = options.getRequestFunction as () => RequestFunction
    // Not enumerable, so that whoever spreads the options into those of the next request takes no part of it along.
    Object.defineProperty(options, 'getRequestFunction', {
      configurable: true,
      value: () => {
        const send = original.call(options)
        return (...args: unknown[]) => this.#send(options, retryCount, () => passOn(options, send, args))
      },
    })
  }

  async #send(options: Options, retryCount: number, send: () => Promise<unknown>): Promise<unknown> {
    const hopOptions = this.#hopOptions(options)
    if (hopOptions === undefined) return send()
    const hop = this.#chainOf(retryCount).next(options)
    try {
      await hop.wait(this.#pacer, hopOptions)
      const request = await send()
      hop.follow(request as ClientRequest)
      return request
    } catch (error) {
      hop.end({ error })
      throw error
    }
  }

  /** What the caller says of this hop; `undefined` for one that is not paced. */
  #hopOptions(options: Options): HopOptions | undefined {
    const { skip, key, ...own } = readRequestOptions(options.context.hostpace)
    const url = options.url as URL
    // What the caller says of a host does not hold for the one that a redirect leads to.
    const ownKey = (this.#options.url as URL).origin === url.origin ? key : undefined
    if (skip || (ownKey === undefined && isUnixSocket(url))) return undefined
    return { ...own, key: ownKey }
  }

  /** The attempts of a promise are given up together; each attempt of a stream is a stream of its own. */
  #chainOf(retryCount: number): HopChain {
    const attempt = this.#options.isStream ? retryCount : 0
    const chain = this.#chains.get(attempt) ?? new HopChain()
    this.#chains.set(attempt, chain)
    return chain
  }

  #watchCancel(promise: Cancelable): void {
    const { cancel } = promise
    // Only got 14 has it.
    if (typeof cancel !== 'function') return
    promise.cancel = (...args) => {
      cancel.apply(promise, args)
      this.#chainOf(0).giveUp()
    }
  }

  #watchStream(stream: StreamLike, retryCount: number): void {
    stream.once('close', () => this.#chainOf(retryCount).giveUp())
    const { emit } = stream
    // Whoever listens to `retry` makes the stream of the next attempt by what comes with the event.
    stream.emit = (name, ...args) => {
      if (name !== 'retry') return emit.call(stream, name, ...args)
      const [nextCount, error, createRetryStream] = args as [number, unknown, (...args: unknown[]) => StreamLike]
      const createWatched = (...args: unknown[]) => {
        const next = createRetryStream(...args)
        this.#watchStream(next, nextCount)
        return next
      }
      return emit.call(stream, name, nextCount, error, createWatched)
    }
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

/** `unix:` URLs, and `http://unix:/socket:/path`. */
function isUnixSocket(url: URL): boolean {
  return url.protocol === 'unix:' || (url.hostname === 'unix' && url.pathname.includes(':'))
}

async function passOn(options: Options, send: RequestFunction, args: unknown[]): Promise<unknown> {
  // A request function of the user may leave it to got; got 14 forgets to look for that below its cache.
  return (await send(...args)) ?? (options.getFallbackRequestFunction() as RequestFunction)(...args)
}
