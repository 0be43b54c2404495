import type { Clock } from './clock.ts'
import type { KeyBy } from './origin.ts'
import type { Policy } from './policy.ts'
import type { PolicyFor } from './policy-lookup.ts'
import type { Reservation } from './reservation.ts'
import type { Store } from './stores/store.ts'

/** Between which bounds, and from what, the gap between two requests to a host is learned. */
export interface AdaptOptions {
  /**
   * Milliseconds between two requests to a host of which nothing is declared or learned. From
   * `minIntervalMs` to `maxIntervalMs`. @default 1000, or the one of these that is nearest to it
   */
  startIntervalMs?: number
  /** The shortest gap that is learned for such a host, in milliseconds. At least 1. @default 10 */
  minIntervalMs?: number
  /** The longest gap that is learned for any host, in milliseconds. At least `minIntervalMs`. @default 60000 */
  maxIntervalMs?: number
  /** How many requests the host should have to deal with at once: the gap aimed at is its latency by this. @default 1 */
  targetConcurrency?: number
  /** Whether its latency counts also on a host for which a rate, an interval or a quota is declared. @default false */
  latency?: boolean
}

/**
 * What `createPacer` takes. The fields of `Policy` among them apply to every host.
 */
export interface PacerOptions extends Policy {
  /**
   * Policies of single hosts by key, usually the origin. Each field given here replaces the one that
   * applies to every host; `rate`, `capacity` and `justification` are replaced together.
   */
  hosts?: Readonly<Record<string, Policy>>
  /**
   * Looks up the policy of a host when it is first asked for; the answer is kept as long as the host.
   * An interval it gives never shortens a configured one: the longer wins. What it throws is what those who wait for
   * it reject with; a `PolicyError` then names the host, and has the one that was thrown as its `cause`.
   */
  policyFor?: PolicyFor
  /** What requests have in common that share a limit. @default 'origin' */
  keyBy?: KeyBy
  /** Where the credit lives, and so who shares it. @default memoryStore() */
  store?: Store
  /** Whether answers are learned from, and how, for all hosts of this pacer: `false` for not at all. @default true */
  adapt?: boolean | AdaptOptions
  /** Where the time comes from. @default the clock of this process */
  clock?: Clock
}

/** What one request may say of itself to `pacer.wait`. */
export interface WaitOptions {
  /** Ends the wait: it rejects in the same turn with exactly `signal.reason`. */
  signal?: AbortSignal | undefined
  /** Higher goes first; first come, first served among equals. @default 0 */
  priority?: number | undefined
  /** How many requests this one counts as; a whole number. @default 1 */
  cost?: number | undefined
  /** Milliseconds that the request is ready to wait; what would take longer rejects at once. @default the policy's */
  maxWaitMs?: number | undefined
  /** The key to pace by, in place of the one that `keyBy` finds. */
  key?: string | undefined
  /** A slot that `reserve` gave for this host and cost; the request leaves at that time, or as soon as it may after. */
  reservation?: Reservation | undefined
  /**
   * The caller will call `permit.sent()` once the request is on the wire. Until it does (or calls
   * `done()`), the request counts as one that leaves just now, so that nothing that follows comes
   * too close however long the connection takes. @default false
   */
  reportsSent?: boolean | undefined
  /** Handed to a `keyBy` function as it is. */
  request?: unknown
}
