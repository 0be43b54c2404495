import { type Policy, parseRateLimit, type Quota, type Rate, type RateLimitPolicy } from '@hostpace/core'
import { parseRobots } from '@hostpace/robots'
import { showDuration } from './durations.ts'

/** What a host answered. */
export interface Answer {
  readonly url: string
  readonly status: number
  readonly headers: Headers
}

/** A part of a policy, and where it came from. */
export interface PolicyPart {
  readonly field: 'intervalMs' | 'rate' | 'quotas'
  readonly value: unknown
  readonly source: string
}

/** The policy that would apply to a host. */
export interface DerivedPolicy {
  readonly policy: Policy
  readonly parts: readonly PolicyPart[]
  /** What the host said that is no lasting limit. */
  readonly notes: readonly string[]
}

/** A robots.txt as it came, with where from. */
export interface RobotsText extends Answer {
  readonly text: string
}

/**
 * Turns what a host says into a policy.
 *
 * @param intervalMs what robots.txt came to
 * @param answer to a request for the URL itself, if it was made
 */
export function derivePolicy(
  intervalMs: number | undefined,
  robots: RobotsText | undefined,
  productToken: string,
  answer: Answer | undefined,
  receivedAtMs: number,
): DerivedPolicy {
  const interval = intervalMs === undefined ? [] : [intervalPart(intervalMs, robots, productToken)]
  const limits = answer && parseRateLimit(answer.headers, { status: answer.status, receivedAtMs })
  const quotas = quotaParts(limits?.policies ?? [], answer)
  const parts = [...interval, ...quotas]
  const hold = limits?.retryAfterMs
  const present = [
    ...(hold === undefined ? [] : [`Retry-After: the host asks to stay away for ${showDuration(hold)}`]),
    ...(limits?.policies ?? []).flatMap(presentNote),
  ]
  return {
    policy: Object.fromEntries(parts.map(({ field, value }) => [field, value])),
    parts,
    notes: [...present, ...(parts.length > 0 ? [] : [whyEmpty(robots, answer, present.length > 0)])],
  }
}

/** Why there is no policy, which is not always for want of limits. */
function whyEmpty(robots: RobotsText | undefined, answer: Answer | undefined, saysOfNow: boolean): string {
  if (robots !== undefined && isUnavailable(robots)) {
    return `what the host declares is not known: robots.txt answered ${robots.status}`
  }
  if (answer === undefined) return 'robots.txt declares nothing, and the URL was not asked for'
  if (saysOfNow) return 'the host declares no limit that lasts: a pacer goes by the present one'
  return 'the host declares nothing: a pacer starts at one request a second and goes by how it answers (createPacer() with no options)'
}

/** Whether a host could not say what its robots.txt has, so that nothing may be asked for (RFC 9309, section 2.3.1.4). */
function isUnavailable({ status }: Answer): boolean {
  return status === 429 || status >= 500
}

function intervalPart(intervalMs: number, robots: RobotsText | undefined, productToken: string): PolicyPart {
  const line = robots && decidingLine(robots.text, intervalMs, productToken)
  const where = line === undefined ? '' : `, line ${line.number}: ${line.text}`
  return { field: 'intervalMs', value: intervalMs, source: `${robots?.url ?? 'robots.txt'}${where}` }
}

/** The line without which the delay would be another, or the first of several that say the same. */
function decidingLine(
  text: string,
  delayMs: number,
  productToken: string,
): { number: number; text: string } | undefined {
  const lines = text.split(/\r\n|\r|\n/)
  const delays = lines.flatMap((line, index) =>
    /^\s*(?:crawl|request)[\s_-]*(?:delay|rate)/i.test(line) ? [index] : [],
  )
  // A file of very many is none that a person would be pointed into.
  if (delays.length > 100) return undefined
  for (const index of delays) {
    const others = new Set(delays.filter((other) => other !== index))
    const alone = lines.filter((_, other) => !others.has(other)).join('\n')
    const line = lines[index] as string
    if (parseRobots(alone, productToken).delayMs === delayMs)
      return { number: index + 1, text: line.trim().slice(0, 100) }
  }
  return undefined
}

/** Quotas say nothing of spacing, so the slowest of them becomes a rate as well. */
function quotaParts(policies: readonly RateLimitPolicy[], answer: Answer | undefined): PolicyPart[] {
  const quotas = policies.flatMap(({ limit = 0, windowMs = 0 }) =>
    limit >= 1 && windowMs > 0 ? [{ limit, windowMs }] : [],
  )
  const [slowest] = quotas.toSorted((a, b) => a.limit / a.windowMs - b.limit / b.windowMs)
  if (slowest === undefined || answer === undefined) return []
  const source = `derived from the quota, so that ${slowest.limit} last for ${showDuration(slowest.windowMs)}`
  return [
    { field: 'rate', value: rateOf(slowest), source },
    { field: 'quotas', value: quotas, source: limitHeaders(answer.headers) },
  ]
}

/** A rate as a person would write it, where the window is a unit of time. */
function rateOf({ limit, windowMs }: Quota): Rate {
  const unit = { 1000: 's', 60000: 'm', 3600000: 'h', 86400000: 'd' }[windowMs]
  return unit === undefined ? (limit / windowMs) * 1000 : `${limit}r/${unit}`
}

/** What is left of a limit now is for the pacer to spread, and no part of a policy. */
function presentNote({ name, limit, remaining, resetMs, windowMs }: RateLimitPolicy): string[] {
  if (remaining === undefined && windowMs !== undefined) return []
  const called = name === undefined ? '' : `${name}: `
  const of = limit === undefined ? '' : ` of ${limit}`
  const reset = resetMs === undefined ? '' : `, reset in ${showDuration(resetMs)}`
  const left = remaining === undefined ? `a limit${of}` : `${remaining}${of} left`
  return [`published now: ${called}${left}${reset}; a pacer spreads what is left until the reset`]
}

/** The headers that speak of limits, as they were sent. */
export function limitHeaders(headers: Headers): string {
  return [...headers]
    .filter(([name]) => /rate-?limit|call-limit|retry-after/.test(name))
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ')
}
