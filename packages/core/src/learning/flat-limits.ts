import type { HeaderEntries } from '../headers.ts'
import type { HeaderHints } from './header-hints.ts'
import type { RateLimitPolicy } from './rate-limit.ts'
import { longestResetMs, withWindow } from './standard-limits.ts'
import { msOf, parseTimeLeft } from './time-left.ts'

/** A bare number of seconds beyond this may be one of milliseconds. */
const longestBareResetMs = 86_400_000

/** `x-ratelimit-limit`, `ratelimit-limit`, `x-rate-limit-limit`, `x-sib-ratelimit-limit`; with what is counted behind. */
const flatName = /^(?:x-|x-[a-z]+-)?rate-?limit-(limit|remaining|used|reset-after|reset)(?:-([a-z-]+))?$/

/** `anthropic-ratelimit-requests-limit` */
const vendorFlatName = /^[a-z]+-ratelimit-([a-z-]+)-(limit|remaining|reset)$/

/** The parts of one limit as they were sent, by their names. */
type Parts = Partial<Record<'limit' | 'remaining' | 'used' | 'reset' | 'reset-after', string>>

/**
 * Reads the family of one header per number: `RateLimit-*` of drafts 3 to 6, `X-RateLimit-*` and its spellings, also
 * for several things that are counted (`x-ratelimit-remaining-tokens`), and names that the hints give.
 */
export function flatPolicies(
  entries: HeaderEntries,
  wallNowMs: number,
  hints: HeaderHints,
): readonly RateLimitPolicy[] {
  const limits = new Map<string | undefined, Parts>()
  const put = (name: string | undefined, part: keyof Parts, value: string) => {
    const parts = limits.get(name) ?? {}
    parts[part] ??= value
    limits.set(name, parts)
  }
  for (const [part, header] of Object.entries(hints.names ?? {})) {
    const value = entries.get(header.toLowerCase())
    if (value !== undefined) put(undefined, part as keyof Parts, value)
  }
  for (const [header, value] of entries) {
    const [, part, counted] = flatName.exec(header) ?? []
    if (part !== undefined) put(counted, part as keyof Parts, value)
    const [, vendorCounted, vendorPart] = part === undefined ? (vendorFlatName.exec(header) ?? []) : []
    if (vendorPart !== undefined) put(vendorCounted, vendorPart as keyof Parts, value)
  }
  return [...limits].flatMap(([counted, parts]) => {
    const policy = policyOf(parts, wallNowMs, hints)
    if (policy === undefined) return []
    const whole = counted === undefined ? withWindow(policy, entries.get('ratelimit-policy')) : policy
    return [counted === undefined ? whole : { name: counted, ...whole }]
  })
}

/** Reads the forms that only one vendor has. */
export function vendorPolicies(entries: HeaderEntries): readonly RateLimitPolicy[] {
  return [...shopifyPolicies(entries), ...hubspotPolicies(entries)]
}

/** `32/40`: so many of so many are used. */
function shopifyPolicies(entries: HeaderEntries): RateLimitPolicy[] {
  const [, used, limit] = /^(\d+)\/(\d+)$/.exec(entries.get('x-shopify-shop-api-call-limit') ?? '') ?? []
  if (used === undefined || limit === undefined) return []
  return [{ limit: Number(limit), remaining: Math.max(0, Number(limit) - Number(used)) }]
}

function hubspotPolicies(entries: HeaderEntries): RateLimitPolicy[] {
  const read = (limitName: string, remainingName: string, windowMs: number | undefined): RateLimitPolicy[] => {
    const limit = count(entries.get(`x-hubspot-ratelimit-${limitName}`))
    const remaining = count(entries.get(`x-hubspot-ratelimit-${remainingName}`))
    return limit === undefined || remaining === undefined || !windowMs ? [] : [{ limit, remaining, windowMs }]
  }
  return [
    ...read('max', 'remaining', count(entries.get('x-hubspot-ratelimit-interval-milliseconds'))),
    ...read('daily', 'daily-remaining', 86_400_000),
    ...read('secondly', 'secondly-remaining', 1000),
  ]
}

/** One limit; `undefined` if its headers say nothing that can be read. */
function policyOf(parts: Parts, wallNowMs: number, hints: HeaderHints): RateLimitPolicy | undefined {
  const used = count(parts.used)
  const remaining = count(parts.remaining)
  const limit = count(parts.limit) ?? (used !== undefined && remaining !== undefined ? used + remaining : undefined)
  const resetMs = resetOf(parts['reset-after'], wallNowMs, 's') ?? resetOf(parts.reset, wallNowMs, hints.reset)
  if (limit === undefined && remaining === undefined && resetMs === undefined) return undefined
  return {
    ...(limit !== undefined && { limit }),
    ...(remaining !== undefined && { remaining }),
    ...(resetMs !== undefined && { resetMs }),
  }
}

/** `1,000`, which is no number in a header; nor is it a list, whose first number would be 1. */
const grouped = /^\s*\d{1,3}(?:,\d{3})+(?:\.\d+)?\s*$/

/** The first number of a header: `10, 10;window=1` is 10, and some count in decimals. */
function count(text: string | undefined): number | undefined {
  if (text !== undefined && grouped.test(text)) return undefined
  const [, digits] = /^\s*(\d{1,15})(?:\.\d+)?\s*(?:[,;]|$)/.exec(text ?? '') ?? []
  return digits === undefined ? undefined : Number(digits)
}

function resetOf(text: string | undefined, wallNowMs: number, unit: HeaderHints['reset']): number | undefined {
  if (text === undefined) return undefined
  const number = /^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : undefined
  if (unit === undefined || number === undefined) {
    const leftMs = parseTimeLeft(text, wallNowMs)
    const isBare = number !== undefined && number < 1e9
    return leftMs === undefined ? undefined : Math.min(leftMs, isBare ? longestBareResetMs : longestResetMs)
  }
  const timeMs = unit.endsWith('ms') ? number : msOf(number)
  const leftMs = unit.startsWith('epoch') ? timeMs - wallNowMs : timeMs
  return Number.isFinite(leftMs) ? Math.min(Math.max(0, leftMs), longestResetMs) : undefined
}
