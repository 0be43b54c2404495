import type { Policy, Quota } from '@hostpace/core'
import { FixedWindowRule } from './fixed-window-rule.ts'
import { IntervalRule } from './interval-rule.ts'
import { RateRule } from './rate-rule.ts'
import type { Rule } from './rule.ts'
import { WindowRule } from './window-rule.ts'

/**
 * What a log is held to by a policy: a rule for each of its layers.
 *
 * @param startMs what the times of the stamps are counted from, in milliseconds since 1970
 */
export function rulesOf(
  { intervalMs, rate, capacity, quotas = [] }: Policy,
  resolutionMs: number,
  startMs: number,
): Rule[] {
  return [
    ...(intervalMs === undefined ? [] : [new IntervalRule(intervalMs, resolutionMs)]),
    ...(rate === undefined ? [] : [new RateRule(rate, capacity, resolutionMs)]),
    ...quotas.map((quota) => quotaRule(quota, resolutionMs, startMs)),
  ]
}

/** A quota that a limiter counts in two counters is a ceiling on every window all the same. */
function quotaRule({ limit, windowMs, window }: Quota, resolutionMs: number, startMs: number): Rule {
  if (window === 'fixed') return new FixedWindowRule(limit, windowMs, resolutionMs, startMs)
  return new WindowRule(limit, windowMs, resolutionMs)
}
