import { aFunction, anyObject } from '../checks.ts'
import type { Forecast } from '../forecast.ts'
import type { HostTable } from '../host-table.ts'
import type { Learned } from '../learning/learned.ts'
import type { Limits } from '../limits.ts'
import type { Slot } from '../slot.ts'

/** What a store in this process answers at once and a shared one later. */
export type Answer<T> = T | Promise<T>

const storeMethods = [
  'leave',
  'retry',
  'reserve',
  'giveBack',
  'sent',
  'finish',
  'pause',
  'resume',
  'learn',
  'view',
  'adopt',
  'close',
] as const satisfies readonly (keyof Store)[]

/**
 * Refuses what is no store.
 *
 * @throws {PolicyError} that names what is missing
 */
export function checkStore(store: Store, path: string): void {
  anyObject(store, path)
  anyObject(store.hosts, `${path}.hosts`)
  for (const name of storeMethods) aFunction(store[name], `${path}.${name}`)
}

/** Asks a store: one that throws has answered as one that rejects. */
export function answerOf<T>(ask: () => Answer<T>): Answer<T> {
  try {
    return ask()
  } catch (error) {
    return Promise.reject(error)
  }
}

/**
 * What a store says to a request that asks to leave.
 *
 * - `gone`: it leaves now. Every layer is charged and, where the policy bounds the requests in flight, a
 *   permit is taken. `slot` is there if the departure can still be moved (`sent`) or taken back. A store that
 *   answers later always gives one, since the request may have given up while the answer was on its way.
 * - `promised`: it leaves in `waitMs`; `slot` is its place.
 * - `full`: the layers would let it go, but the permits are all out. It holds nothing.
 */
export type Leave =
  | { readonly kind: 'gone'; readonly slot: Slot | undefined }
  | { readonly kind: 'promised'; readonly slot: Slot; readonly waitMs: number }
  | { readonly kind: 'full' }

/** The whole state of a host under a policy, to try things on and to explain. */
export interface HostView {
  /** How many requests each layer might let go now, in the order of the policy's layers. */
  readonly credits: readonly number[]
  /** Milliseconds left of a pause, 0 if there is none. */
  readonly pausedMs: number
  /** Requests in flight, as far as they count against `concurrency`. */
  readonly inFlight: number
  /** Departures to come, one after another, on a copy of the state. `end()` it. */
  readonly forecast: Forecast
  /** Now, on the clock that the forecast speaks of. */
  readonly nowMs: number
}

/**
 * Where the credit of hosts lives, and so who shares it.
 *
 * Each method is one atomic step over all layers of one host. Hosts are given by their number in
 * `hosts`. Those methods that get `nowMs` get the clock of this process; a store that is shared with other
 * processes uses its own and converts at its border.
 */
export interface Store {
  /** The numbers of the hosts; shared by all pacers on this store in this process. */
  readonly hosts: HostTable

  /**
   * Lets a request leave now, or promises it the earliest departure, or says that it is full.
   *
   * @param reportsSent whether `sent` will be called; until then the request counts as one that leaves just now
   * @param order a number that grows with each arrival in this process: what was reserved by those who came later makes
   *   room. @default after all others
   * @param more how many wait behind it; a store that has to be asked across a network may ask for them, too. @default 0
   */
  leave(
    host: number,
    limits: Limits,
    cost: number,
    reportsSent: boolean,
    nowMs: number,
    order?: number,
    more?: number,
  ): Answer<Leave>

  /** The time of a promised slot has come, or circumstances have changed: asks again, the slot given back first. */
  retry(host: number, limits: Limits, slot: Slot, reportsSent: boolean, nowMs: number, more?: number): Answer<Leave>

  /** Promises a slot, not before `notBeforeMs`, that counts as used once its time is over. */
  reserve(host: number, limits: Limits, cost: number, notBeforeMs: number, nowMs: number, order?: number): Answer<Slot>

  /** Gives back a slot that was promised, or that has left but is not on the wire. What is over stays used. */
  giveBack(host: number, limits: Limits, slot: Slot, nowMs: number): void

  /** A request is on the wire now: its departure is charged at this moment. */
  sent(host: number, limits: Limits, slot: Slot | undefined, cost: number, nowMs: number): void

  /** A request of a host whose policy bounds the requests in flight is over: frees its permit. */
  finish(host: number): void

  /** Holds a host for `forMs` from now on, 0 or more; the longest of several pauses wins. It restarts gently. */
  pause(host: number, limits: Limits, forMs: number, nowMs: number): void

  /** Ends a pause now. The host restarts gently. */
  resume(host: number, limits: Limits, nowMs: number): void

  /** Takes in what was learned of a host, in place of what was before. `limits` has layers for it. */
  learn(host: number, limits: Limits, learned: Learned, nowMs: number): void

  /** Looks at a host and takes nothing. */
  view(host: number, limits: Limits, nowMs: number): Answer<HostView>

  /**
   * A host gets another policy: what has been used under the former stays used.
   *
   * @param inFlight requests of this pacer that are in flight; where only one of the two policies bounds them,
   * they count from now on, or no longer do
   */
  adopt(host: number, former: Limits, limits: Limits, inFlight: number, nowMs: number): void

  /** Frees what the store holds in this process. */
  close(): void | Promise<void>
}
