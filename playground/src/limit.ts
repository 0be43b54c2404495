import type { Policy } from '@hostpace/core'

/** A trace of a sum of fractions, which decides nothing. */
const trace = 1e-9

/**
 * The most requests in any window of this length that a host's interval and quotas permit; `Infinity` if it asks for neither.
 *
 * An interval permits one at the start of a half-open window and one after each interval within; a quota permits its limit in
 * each of the windows that it takes to cover this one.
 */
export function limitOf({ intervalMs, quotas = [] }: Policy, windowMs: number): number {
  const byInterval = intervalMs === undefined ? Number.POSITIVE_INFINITY : Math.ceil(windowMs / intervalMs - trace)
  const byQuotas = quotas.map((quota) => quota.limit * Math.ceil(windowMs / quota.windowMs - trace))
  return Math.min(byInterval, ...byQuotas)
}
