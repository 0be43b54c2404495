import { handOver, type Pacer, type RequestOptions, type WaitOptions } from '@hostpace/core'
import { Hop } from './hop.ts'
import { requestOf } from './target.ts'
import { cancelUpload } from './upload.ts'

export type FetchInput = string | URL | Request
export type FetchInit = RequestInit & { hostpace?: RequestOptions | undefined }
export type Fetch = (input: FetchInput, init?: FetchInit) => Promise<Response>

export type RedirectMode = NonNullable<RequestInit['redirect']>

/** One request of a call: the first, or one that a redirect asks for. */
export interface Leg {
  readonly input: FetchInput
  readonly init: FetchInit
  readonly url: URL
}

export interface CallOptions extends Leg {
  readonly fetch: Fetch
  readonly pacers: readonly Pacer[]
  readonly hostpace: RequestOptions | undefined
}

/** One call of a paced function: the first hop and the redirects that follow. */
export class Call {
  readonly fetch: Fetch
  readonly first: Leg
  readonly redirect: RedirectMode
  /** As `fetch` has it: the one in `init`, even if it is `null`, replaces that of the `Request`. */
  readonly signal: AbortSignal | undefined
  readonly #options: CallOptions

  constructor(options: CallOptions) {
    const { fetch, input, init, url } = options
    const request = requestOf(input)
    this.#options = options
    this.fetch = fetch
    this.first = { input, init, url }
    this.redirect = init.redirect ?? request?.redirect ?? 'follow'
    this.signal = (init.signal === undefined ? request?.signal : init.signal) ?? undefined
  }

  /**
   * Waits until the request may leave.
   *
   * @throws what a pacer rejects with, and the reason of the signal if that ends the wait
   */
  async enter(leg: Leg): Promise<Hop> {
    const { signal } = this
    try {
      const hop = await Hop.enter(this.#options.pacers, leg.url, this.#waitOptions(leg))
      // Between the leave and this turn there are others.
      if (!signal?.aborted) return hop
      hop.over()
      throw signal.reason
    } catch (error) {
      if (signal?.aborted) cancelUpload(leg.input, leg.init, signal.reason)
      throw error
    }
  }

  /** Sends a request that may leave, and tells its pacers how it went up to the headers. */
  async send(hop: Hop, { input, init, url }: Leg, redirect: RedirectMode): Promise<Response> {
    const { fetch, signal } = this
    try {
      const answer = handOver(hop.pacers, url, () => fetch(input, { ...init, redirect }), 1)
      // Only now: in its first call Node's fetch loads all that it is made of.
      hop.sent()
      const response = await answer
      hop.answered(response)
      return response
    } catch (error) {
      hop.over(signal?.aborted ? undefined : { error })
      throw error
    }
  }

  #waitOptions({ url }: Leg): WaitOptions {
    const { signal, first } = this
    const { input, init, hostpace } = this.#options
    const base: WaitOptions = { signal, reportsSent: true, request: { input, init } }
    if (hostpace === undefined) return base
    const { cost, priority, maxWaitMs, key, reservation } = hostpace
    return {
      ...base,
      cost,
      priority,
      maxWaitMs,
      // Another host is paced by its own key, whatever key the caller gave for the first one.
      key: url.origin === first.url.origin ? key : undefined,
      reservation: url === first.url ? reservation : undefined,
    }
  }
}
