import { nonNegativeNumber, plainFields, positiveNumber, wholeNumber } from './checks.ts'
import { HostLimiter, type HostLimiterOptions } from './host-limiter.ts'
import type { Policy } from './policy.ts'

/** How a registry of crawled hosts writes down what a host can bear. */
export interface RegistryEntry {
  /** The least number of seconds between two requests that the crawler sets itself, 0 or more. */
  readonly crawlDelayFloorSeconds: number
  /** The `Crawl-delay` of the host's robots.txt in seconds, 0 or more. */
  readonly rulesCrawlDelaySeconds?: number | undefined
  /** Requests per minute, above 0. */
  readonly maxRequestsPerMinute: number
  /** Requests per 24 hours, a whole number of 1 or more. */
  readonly dailyQuota?: number | undefined
}

const dayMs = 86_400_000

const entryFields = ['crawlDelayFloorSeconds', 'rulesCrawlDelaySeconds', 'maxRequestsPerMinute', 'dailyQuota']

/**
 * Derives the policy of a registry entry: the longer of the two delays as the interval, the requests
 * per minute as a rate with a burst of one second of it (at least 1), the daily quota over 24 hours.
 *
 * @throws {PolicyError} if a field is unknown, missing or senseless
 */
export function policyFor(entry: RegistryEntry): Policy {
  plainFields(entry, entryFields, 'entry')
  const floorSeconds = nonNegativeNumber(entry.crawlDelayFloorSeconds, 'entry.crawlDelayFloorSeconds')
  const rulesSeconds = nonNegativeNumber(entry.rulesCrawlDelaySeconds ?? 0, 'entry.rulesCrawlDelaySeconds')
  const perMinute = positiveNumber(entry.maxRequestsPerMinute, 'entry.maxRequestsPerMinute')
  const intervalMs = Math.max(floorSeconds, rulesSeconds) * 1000
  return {
    ...(intervalMs > 0 && { intervalMs }),
    rate: `${perMinute}r/m`,
    capacity: Math.max(1, perMinute / 60),
    ...(entry.dailyQuota !== undefined && {
      quotas: [{ limit: wholeNumber(entry.dailyQuota, 'entry.dailyQuota'), windowMs: dayMs }],
    }),
  }
}

/** A limiter by the policy of a registry entry. */
export function limiterFor(entry: RegistryEntry, options?: HostLimiterOptions): HostLimiter {
  return new HostLimiter(policyFor(entry), options)
}
