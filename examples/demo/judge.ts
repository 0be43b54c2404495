import { type Policy, parseRate } from '@hostpace/core'
import type { LoggedRequest } from './access-log.ts'

/** What a target's access log says about how it was treated. */
export interface Verdict {
  requests: number
  /** Milliseconds from the first request to the last. */
  spanMs: number
  /** The shortest time between two requests; `Infinity` if there were fewer than two. */
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
  /** How far apart two stamps of one moment may be in the log, in milliseconds. @default 1 */
  resolutionMs?: number
}

/**
 * Holds an access log against a policy: each rule on every pair and every window of requests, from
 * what the target wrote down and nothing that the client believes of itself.
 *
 * @param log in the order of arrival
 */
export function judge(log: readonly LoggedRequest[], policy: Policy, options: JudgeOptions = {}): Verdict {
  const { expectedRefusals = 0, resolutionMs = 1 } = options
  const times = log.map((request) => request.arrivedMs)
  const refused = log.filter(isRefusal).length
  const violations = [
    ...shortGaps(times, policy, resolutionMs),
    ...fullWindows(times, policy, resolutionMs),
    ...bursts(times, policy, resolutionMs),
    ...ignoredHolds(log, resolutionMs),
  ]
  if (refused > expectedRefusals) violations.push(`${refused} requests were refused, ${expectedRefusals} expected`)
  const spanMs = times.length === 0 ? 0 : (times.at(-1) as number) - (times[0] as number)
  return {
    requests: log.length,
    spanMs,
    smallestGapMs: Math.min(...gaps(times)),
    worstWindow: worstWindow(times, policy, resolutionMs),
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

function shortGaps(times: readonly number[], { intervalMs }: Policy, resolutionMs: number): string[] {
  if (intervalMs === undefined) return []
  return gaps(times)
    .filter((gap) => gap < intervalMs - resolutionMs)
    .map((gap) => `a gap of ${gap} ms where ${intervalMs} ms are declared`)
}

function fullWindows(times: readonly number[], { quotas = [] }: Policy, resolutionMs: number): string[] {
  return quotas.flatMap(({ limit, windowMs }) => {
    const count = mostWithin(times, windowMs - resolutionMs)
    return count > limit ? [`${count} requests within ${windowMs} ms where ${limit} are allowed`] : []
  })
}

/** A token bucket permits no more than its capacity plus what flows in between any two requests. */
function bursts(times: readonly number[], policy: Policy, resolutionMs: number): string[] {
  const { rate, capacity } = policy
  if (rate === undefined) return []
  const bucket: Policy = capacity === undefined ? { rate } : { rate, capacity }
  let worst = { excess: 0, text: '' }
  for (const [first, from] of times.entries()) {
    for (const [offset, to] of times.slice(first).entries()) {
      const most = mostIn(to - from + resolutionMs, bucket)
      const excess = offset + 1 - most
      if (excess <= worst.excess) continue
      worst = { excess, text: `${offset + 1} requests in ${to - from} ms where ${rate} permits ${most}` }
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
    return early.map(({ arrivedMs }) => `a request ${arrivedMs - answeredMs} ms after Retry-After: ${retryAfterMs / 1000}`)
  })
}

function worstWindow(times: readonly number[], policy: Policy, resolutionMs: number): Verdict['worstWindow'] {
  const [quota] = policy.quotas ?? []
  const windowMs = quota?.windowMs ?? 1000
  // A half-open window of one millisecond less than its length still holds what arrives at its very end.
  const limit = quota?.limit ?? mostIn(windowMs - resolutionMs, policy)
  return { count: mostWithin(times, windowMs - resolutionMs), windowMs, limit }
}

/** The most requests in any half-open window of this length; a worst one always starts at a request. */
function mostWithin(times: readonly number[], windowMs: number): number {
  const counts = times.map((from) => times.filter((at) => at >= from && at < from + windowMs).length)
  return Math.max(0, ...counts)
}

function gaps(times: readonly number[]): number[] {
  return times.slice(1).map((time, index) => time - (times[index] as number))
}
