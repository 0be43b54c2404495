import {
  inOrder,
  type Pacer,
  type PacerOptions,
  type RequestOptions,
  readRequestOptions,
  takesHandovers,
  toPacer,
} from '@hostpace/core'
import { Call, type Fetch, type FetchInit, type FetchInput } from './call.ts'
import { fetchByHops } from './hops.ts'
import { targetOf } from './target.ts'
import { isUnusable } from './upload.ts'

/** Any function that is called as `fetch` is: the runtime's own, that of undici, or one with layers around it. */
// biome-ignore lint/suspicious/noExplicitAny: functions of every runtime, whose types differ, are taken as they are
export type AnyFetch = (input: any, init?: any) => Promise<any>

/** A `fetch` of the same type, which also takes `hostpace` in its second argument: how this request is paced. */
export type PacedFetch<F extends AnyFetch = typeof fetch> = F &
  ((input: Parameters<F>[0], init?: Parameters<F>[1] & { hostpace?: RequestOptions | undefined }) => ReturnType<F>)

/** Marks a paced function, also for another copy of this package. */
const PACED = Symbol.for('hostpace.fetch')

interface Marked {
  [PACED]?: { readonly fetch: Fetch; readonly pacers: readonly Pacer[] }
}

/**
 * Makes a `fetch` that holds each request back until its host may be asked.
 *
 * ```ts
 * const paced = pace(fetch, { rate: '10r/s' })
 * ```
 *
 * Pacing a function that the same pacer paces already changes nothing; where another one does, both pace each hop.
 *
 * @param fetch what sends the requests; it is not changed
 * @param pacerOrOptions a pacer to share, or what `createPacer` takes to make one
 * @throws {PolicyError} if the options make no sense
 * @throws {TypeError} if `fetch` is no function
 */
export function pace<F extends AnyFetch>(fetch: F, pacerOrOptions?: Pacer | PacerOptions): PacedFetch<F> {
  const pacer = toPacer(pacerOrOptions)
  if (typeof fetch !== 'function') throw new TypeError('fetch must be a function')
  const before = (fetch as Marked)[PACED]
  if (before?.pacers.includes(pacer)) return fetch as unknown as PacedFetch<F>
  takesHandovers(pacer)
  return makePaced(before?.fetch ?? fetch, inOrder([...(before?.pacers ?? []), pacer])) as PacedFetch<F>
}

function makePaced(fetch: Fetch, pacers: readonly Pacer[]): Fetch {
  async function paced(input: FetchInput, init?: FetchInit): Promise<Response> {
    const { hostpace, ...own } = init ?? {}
    const url = targetOf(input)
    // What goes nowhere is free, and what fetch will refuse is for fetch to complain about.
    if (url === undefined || readRequestOptions(hostpace).skip || isUnusable(input, own))
      return fetch(input, init && own)
    return fetchByHops(new Call({ fetch, pacers, input, init: own, url, hostpace }))
  }
  // Some runtimes have functions on their fetch, such as `preconnect`.
  return Object.defineProperty(Object.assign(paced, fetch), PACED, { value: { fetch, pacers } })
}
