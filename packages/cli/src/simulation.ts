import { HostLimiter, type LayerName } from '@hostpace/core'
import type { NamedPolicy } from './read-policy.ts'

/** One request that left. */
export interface Departure {
  readonly arriveMs: number
  readonly departMs: number
  /** Which layer it waited for. */
  readonly layer: LayerName
}

/** What a policy makes of some arrivals. */
export interface Simulation extends NamedPolicy {
  readonly departures: readonly Departure[]
  /** How many were refused by `onLimit`, `maxWaitMs` or `maxQueue`. */
  readonly refused: number
  /** Milliseconds from the first departure to the last. */
  readonly spanMs: number
  /** `null` where fewer than two left. */
  readonly smallestGapMs: number | null
  /** The most departures in any window of this length, and when the first such window starts. */
  readonly worstWindow: { readonly count: number; readonly windowMs: number; readonly startMs: number }
  /** Departures per second from the first to the last; `null` where all left at once. */
  readonly averagePerSecond: number | null
  readonly meanWaitMs: number
  readonly longestWaitMs: number
}

/**
 * Plays arrivals through the limiter that the library uses, on a clock that is moved by hand.
 *
 * Answers are not played, so `concurrency` and what would be learned have no part in it.
 *
 * @param arrivals milliseconds, in order
 */
export function simulate({ name, policy }: NamedPolicy, arrivals: readonly number[], windowMs: number): Simulation {
  let nowMs = 0
  const limiter = new HostLimiter(policy, { clock: { now: () => nowMs } })
  const { maxWaitMs = Number.POSITIVE_INFINITY, maxQueue = Number.POSITIVE_INFINITY, onLimit } = policy
  const longestMs = onLimit === 'reject' ? 0 : maxWaitMs
  const departures: Departure[] = []
  let gone = 0
  for (const arriveMs of arrivals) {
    nowMs = arriveMs
    while ((departures[gone]?.departMs ?? Number.POSITIVE_INFINITY) <= nowMs) gone++
    const { waitMs, layer } = limiter.peek()
    const isRefused = waitMs > longestMs || (waitMs > 0 && departures.length - gone >= maxQueue)
    if (!isRefused) departures.push({ arriveMs, departMs: arriveMs + limiter.acquire(), layer })
  }
  return { name, policy, departures, refused: arrivals.length - departures.length, ...figuresOf(departures, windowMs) }
}

function figuresOf(departures: readonly Departure[], windowMs: number) {
  const waits = departures.map(({ arriveMs, departMs }) => departMs - arriveMs)
  const times = departures.map(({ departMs }) => departMs)
  const spanMs = (times.at(-1) ?? 0) - (times[0] ?? 0)
  return {
    spanMs,
    smallestGapMs: smallestGap(times),
    worstWindow: worstWindow(times, windowMs),
    averagePerSecond: spanMs > 0 ? ((times.length - 1) / spanMs) * 1000 : null,
    meanWaitMs: waits.reduce((sum, wait) => sum + wait, 0) / Math.max(1, waits.length),
    longestWaitMs: waits.reduce((longest, wait) => Math.max(longest, wait), 0),
  }
}

function smallestGap(times: readonly number[]): number | null {
  let least = Number.POSITIVE_INFINITY
  for (let index = 1; index < times.length; index++) {
    least = Math.min(least, (times[index] as number) - (times[index - 1] as number))
  }
  return times.length < 2 ? null : least
}

/** A window is half-open, and a fullest one always starts at a departure. */
function worstWindow(times: readonly number[], windowMs: number): Simulation['worstWindow'] {
  let worst = { count: 0, windowMs, startMs: 0 }
  let end = 0
  for (const [start, startMs] of times.entries()) {
    while ((times[end] ?? Number.POSITIVE_INFINITY) < startMs + windowMs - 1e-6) end++
    if (end - start > worst.count) worst = { count: end - start, windowMs, startMs }
  }
  return worst
}
