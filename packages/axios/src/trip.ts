import type { Pacer, WaitOptions } from '@hostpace/core'
import type { AxiosResponse, InternalAxiosRequestConfig } from 'axios'
import { Hop } from './hop.ts'
import { whenOver } from './response-body.ts'

/** What axios-retry keeps in a config; it takes the time since `lastRequestTime` off the time-out of the next try. */
interface RetryState {
  lastRequestTime?: number
}

/**
 * One call of an adapter: the first hop and the redirects that follow.
 */
export class Trip {
  readonly pacers: readonly Pacer[]
  readonly #config: InternalAxiosRequestConfig
  readonly #url: URL
  #hop: Hop | undefined
  #ended: AbortController | undefined
  #waitedMs = 0
  #atEnd: () => void = () => {}
  /** What a pacer rejected a redirect hop with. */
  refusal: unknown

  constructor(pacers: readonly Pacer[], config: InternalAxiosRequestConfig, url: URL) {
    this.pacers = pacers
    this.#config = config
    this.#url = url
  }

  /** The hop that was entered last. */
  get hop(): Hop {
    if (this.#hop === undefined) throw new Error('No hop has been entered')
    return this.#hop
  }

  /** Waits for the first hop. */
  begin(signal: AbortSignal | undefined): Promise<void> {
    const { key, reservation } = this.#config.hostpace ?? {}
    return this.#enter(this.#url, this.#options(key, reservation, signal))
  }

  /**
   * Leaves the hop that was answered by a redirect and waits for the next one.
   *
   * @param signal ends the wait; by default the end of the trip does
   * @throws what a pacer rejects with, which is kept as `refusal`.
   */
  async redirect(url: string, signal: AbortSignal = this.#endSignal()): Promise<void> {
    this.hop.over()
    // Another host is paced by its own key, whatever key the caller gave for the first one.
    const key = new URL(url).origin === this.#url.origin ? this.#config.hostpace?.key : undefined
    try {
      await this.#enter(url, this.#options(key, undefined, signal))
    } catch (error) {
      if (!signal.aborted) this.refusal = error
      throw error
    }
  }

  /** The adapter has a response: the hop is over once its body is. */
  arrived(response: AxiosResponse): void {
    this.#ended?.abort()
    const { hop } = this
    hop.arrived(response.status, () => ({ ...response.headers }) as Record<string, string>)
    withoutWait(response, this.#waitedMs)
    whenOver(response, () => {
      hop.over()
      this.#atEnd()
    })
  }

  /** The adapter has failed, and not for the caller's having cancelled it if there is an error. */
  failed(error?: unknown): void {
    this.#ended?.abort()
    this.hop.over(error === undefined ? undefined : { error })
    this.#atEnd()
  }

  /** Calls `listener` once the trip has failed or the body of its response is over. */
  atEnd(listener: () => void): void {
    this.#atEnd = listener
  }

  #endSignal(): AbortSignal {
    this.#ended ??= new AbortController()
    return this.#ended.signal
  }

  async #enter(url: string | URL, options: WaitOptions): Promise<void> {
    const startedAtMs = performance.now()
    try {
      this.#hop = await Hop.enter(this.pacers, url, options)
    } finally {
      this.#count(performance.now() - startedAtMs)
    }
  }

  #options(
    key: string | undefined,
    reservation: WaitOptions['reservation'],
    signal: AbortSignal | undefined,
  ): WaitOptions {
    const { cost, priority, maxWaitMs } = this.#config.hostpace ?? {}
    return { cost, priority, maxWaitMs, key, reservation, signal, reportsSent: true, request: this.#config }
  }

  #count(waitedMs: number): void {
    this.#waitedMs += waitedMs
    const retry = (this.#config as { 'axios-retry'?: RetryState })['axios-retry']
    if (retry?.lastRequestTime !== undefined) retry.lastRequestTime += waitedMs
  }
}

/** axios sets `duration` after the adapter has settled, so the wait is taken off as it does. */
function withoutWait(response: AxiosResponse, waitedMs: number): void {
  if (Math.round(waitedMs) === 0) return
  Object.defineProperty(response, 'duration', {
    configurable: true,
    set(durationMs: number) {
      const value = Math.max(0, Math.round(durationMs - waitedMs))
      Object.defineProperty(response, 'duration', { value, configurable: true, enumerable: true, writable: true })
    },
  })
}
