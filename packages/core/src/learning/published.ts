import { spreadMs } from '../layers/published-budget.ts'
import type { PublishedLimit } from './learned.ts'
import type { RateLimitPolicy } from './rate-limit.ts'

/** How far two announcements of one reset lie apart at most: most hosts round it to seconds. */
const sameResetMs = 1500

/** A host that makes up ever new names is remembered by the last of them. */
const mostLimits = 16

/**
 * Takes in what an answer published.
 *
 * The host counted what is left when it saw the request. Those that have departed after it (`outstanding`) are taken
 * off, since it may not have counted them. An answer that comes late, after that of a request that left later in the
 * same window, says nothing new.
 *
 * @returns the limits that are known now; the same list if nothing changes
 */
export function publishedAfter(
  known: readonly PublishedLimit[],
  policies: readonly RateLimitPolicy[],
  departedAtMs: number,
  outstanding: number,
  nowMs: number,
): readonly PublishedLimit[] {
  const limits = new Map(known.map((limit) => [limit.name, limit]))
  let hasNews = false
  for (const { name, limit, remaining, resetMs, windowMs } of policies) {
    if (remaining === undefined && limit === undefined) continue
    const before = limits.get(name)
    const resetAtMs = resetMs === undefined ? undefined : nowMs + resetMs
    if (before !== undefined && departedAtMs < before.departedAtMs && isSameWindow(before.resetAtMs, resetAtMs))
      continue
    hasNews = true
    // The last that was told of stands last.
    limits.delete(name)
    limits.set(name, {
      name,
      limit: limit ?? before?.limit,
      remaining: remaining === undefined ? undefined : Math.max(0, remaining - outstanding),
      resetAtMs,
      // What a host does not say of its windows shows in the longest time to a reset.
      windowMs: windowMs ?? (Math.max(before?.windowMs ?? 0, resetMs ?? 0) || undefined),
      departedAtMs,
    })
  }
  return hasNews ? [...limits.values()].slice(-mostLimits) : known
}

/** The gap that the published limits ask for; `undefined` if none of them asks for any now. */
export function publishedGapMs(limits: readonly PublishedLimit[], nowMs: number): number | undefined {
  const gaps = limits.flatMap((limit) => (isCounting(limit, nowMs) ? [spreadMs(limit, nowMs)] : []))
  return gaps.length === 0 ? undefined : Math.max(...gaps)
}

/**
 * Milliseconds until a limit of which nothing is left is reset; `undefined` if there is none.
 *
 * @param isLoose whether a reset without a word of what is left counts, too
 */
export function exhaustedMs(policies: readonly RateLimitPolicy[], isLoose: boolean): number | undefined {
  const resets = policies.flatMap(({ remaining, resetMs }) => {
    const isExhausted = remaining === 0 || (isLoose && remaining === undefined)
    return isExhausted && resetMs !== undefined ? [resetMs] : []
  })
  return resets.length === 0 ? undefined : Math.max(...resets)
}

function isCounting({ remaining, resetAtMs }: PublishedLimit, nowMs: number): boolean {
  return remaining !== undefined && resetAtMs !== undefined && resetAtMs > nowMs
}

function isSameWindow(aMs: number | undefined, bMs: number | undefined): boolean {
  return aMs === undefined || bMs === undefined || Math.abs(aMs - bMs) <= sameResetMs
}
