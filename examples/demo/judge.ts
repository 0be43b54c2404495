import { type Policy, parseRate } from '@hostpace/core'
import type { LoggedRequest } from './access-log.ts'

/** What a target's access log says about how it was treated. */
export interface Verdict {
  requests: number
  /** Milliseconds from the first request to the last. */
  spanMs: number
  /** How late a stamp may be at the most, in milliseconds. */
  resolutionMs: number
  /** The shortest time between two stamps; `Infinity` if there were fewer than two. */
  smallestGapMs: number
  /** The window with the most requests, of the length that the policy cares for. */
  worstWindow: { count: number; windowMs: number; limit: number }
  /** Answers of 429 and 503. */
  refused: number
  /** How many requests the policy would have permitted in `spanMs`, at most. */
  allowed: number
  /** One sentence for each way in which the target was treated worse than its policy says. */
  violations: string[]
}

export interface JudgeOptions {
  /** How many refusals the target deals out to everybody, however polite. @default 0 */
  expectedRefusals?: number
  /** How far apart the log may put two requests of one moment for its clock alone, in milliseconds. @default 1 */
  resolutionMs?: number
}

/**
 * Holds an access log against a policy: each rule on every pair and every window of requests, from
 * what the target wrote down and nothing that the client believes of itself. A stamp that may be late
 * counts as the earliest that it may stand for.
 *
 * @param log in the order of arrival
 */
export function judge(log: readonly LoggedRequest[], policy: Policy, options: JudgeOptions = {}): Verdict {
  const { expectedRefusals = 0, resolutionMs = 1 } = options
  const refused = log.filter(isRefusal).length
  const violations = [
    ...shortGaps(log, policy, resolutionMs),
    ...fullWindows(log, policy, resolutionMs),
    ...bursts(log, policy, resolutionMs),
    ...ignoredHolds(log, resolutionMs),
  ]
  if (refused > expectedRefusals) violations.push(`${refused} requests were refused, ${expectedRefusals} expected`)
  const [first, last] = [log[0], log.at(-1)]
  const spanMs = first === undefined || last === undefined ? 0 : last.arrivedMs - first.arrivedMs
  return {
    requests: log.length,
    spanMs,
    resolutionMs: Math.max(0, ...log.map(({ lateMs = 0 }) => lateMs)) + resolutionMs,
    smallestGapMs: Math.min(...neighbours(log).map(([before, after]) => after.arrivedMs - before.arrivedMs)),
    worstWindow: worstWindow(log, policy, resolutionMs),
    refused,
    allowed: mostIn(spanMs + resolutionMs, policy),
    violations,
  }
}

export function isRefusal(request: LoggedRequest): boolean {
  return request.status === 429 || request.status === 503
}

/** The most requests that the policy permits in a span of `spanMs` with a request at both ends. */
export function mostIn(spanMs: number, { intervalMs, rate, capacity, quotas = [] }: Policy): number {
  const limits = quotas.map(({ limit, windowMs }) => limit * (Math.floor(spanMs / windowMs) + 1))
  if (intervalMs !== undefined) limits.push(Math.floor(spanMs / intervalMs) + 1)
  if (rate !== undefined) {
    const perSecond = parseRate(rate)
    limits.push(Math.floor((capacity ?? Math.max(1, perSecond)) + (perSecond * spanMs) / 1000))
  }
  return Math.min(...limits)
}

/** The longest time that may have been between two requests. */
function timeBetween(before: LoggedRequest, after: LoggedRequest): number {
  return after.arrivedMs - before.arrivedMs + (before.lateMs ?? 0)
}

function shortGaps(log: readonly LoggedRequest[], { intervalMs }: Policy, resolutionMs: number): string[] {
  if (intervalMs === undefined) return []
  return neighbours(log)
    .map(([before, after]) => timeBetween(before, after))
    .filter((gap) => gap < intervalMs - resolutionMs)
    .map((gap) => `a gap of ${gap} ms where ${intervalMs} ms are declared`)
}

function fullWindows(log: readonly LoggedRequest[], { quotas = [] }: Policy, resolutionMs: number): string[] {
  return quotas.flatMap(({ limit, windowMs }) => {
    const count = mostWithin(log, windowMs - resolutionMs)
    return count > limit ? [`${count} requests within ${windowMs} ms where ${limit} are allowed`] : []
  })
}

/** A token bucket permits no more than its capacity plus what flows in between any two requests. */
function bursts(log: readonly LoggedRequest[], policy: Policy, resolutionMs: number): string[] {
  const { rate, capacity } = policy
  if (rate === undefined) return []
  const bucket: Policy = capacity === undefined ? { rate } : { rate, capacity }
  let worst = { excess: 0, text: '' }
  for (const [index, first] of log.entries()) {
    for (const [offset, last] of log.slice(index).entries()) {
      const spanMs = timeBetween(first, last)
      const most = mostIn(spanMs + resolutionMs, bucket)
      const excess = offset + 1 - most
      if (excess <= worst.excess) continue
      worst = { excess, text: `${offset + 1} requests in ${spanMs} ms where ${rate} permits ${most}` }
    }
  }
  return worst.excess > 0 ? [worst.text] : []
}

/** Requests that arrived while the target had asked for quiet. One already under way does not count. */
function ignoredHolds(log: readonly LoggedRequest[], resolutionMs: number): string[] {
  return log.flatMap(({ answeredMs, retryAfterMs }) => {
    if (retryAfterMs === undefined) return []
    const endMs = answeredMs + retryAfterMs - resolutionMs
    const early = log.filter(({ arrivedMs }) => arrivedMs > answeredMs + resolutionMs && arrivedMs < endMs)
    return early.map(
      ({ arrivedMs }) => `a request ${arrivedMs - answeredMs} ms after Retry-After: ${retryAfterMs / 1000}`,
    )
  })
}

function worstWindow(log: readonly LoggedRequest[], policy: Policy, resolutionMs: number): Verdict['worstWindow'] {
  const [quota] = policy.quotas ?? []
  const windowMs = quota?.windowMs ?? 1000
  // A half-open window of one millisecond less than its length still holds what arrives at its very end.
  const limit = quota?.limit ?? mostIn(windowMs - resolutionMs, policy)
  return { count: mostWithin(log, windowMs - resolutionMs), windowMs, limit }
}

/** The most requests in any half-open window of this length; a worst one always starts at a request. */
function mostWithin(log: readonly LoggedRequest[], windowMs: number): number {
  const counts = log.map(
    (first, index) => log.slice(index).filter((next) => timeBetween(first, next) < windowMs).length,
  )
  return Math.max(0, ...counts)
}

function neighbours(log: readonly LoggedRequest[]): [LoggedRequest, LoggedRequest][] {
  return log.slice(1).map((after, index) => [log[index] as LoggedRequest, after])
}
