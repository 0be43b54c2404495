import { type BareItem, parseDictionary, parseList } from 'structured-headers'
import type { HeaderEntries } from '../headers.ts'
import type { RateLimitPolicy } from './rate-limit.ts'

/** Beyond this a time is a mistake. */
export const longestResetMs: number = 31 * 86_400_000

type Parameters = Map<string, BareItem>

/**
 * Reads the fields `RateLimit` and `RateLimit-Policy`, which are structured fields (RFC 9651): a list of named
 * limits (draft 8 and newer), or a dictionary (draft 7).
 *
 * A field with a part that is malformed is ignored as a whole, as structured fields want it.
 */
export function standardPolicies(entries: HeaderEntries): readonly RateLimitPolicy[] {
  const line = entries.get('ratelimit')
  const policyLine = entries.get('ratelimit-policy')
  const named = merge(readNamed(policyLine, 'q', 'w'), readNamed(line, 'r', 't'))
  if (named.length > 0) return named
  const present = line === undefined ? undefined : readDictionary(line)
  return present === undefined ? [] : [withWindow(present, policyLine)]
}

/** Adds how long a window is, which drafts 3 to 7 tell in `RateLimit-Policy` as `100;w=60`. */
export function withWindow(policy: RateLimitPolicy, policyLine: string | undefined): RateLimitPolicy {
  const windows = readWindows(policyLine)
  const found = windows.find(({ limit }) => limit === policy.limit) ?? (windows.length === 1 ? windows[0] : undefined)
  return found === undefined ? policy : { ...found, ...policy }
}

/** `"burst";q=100;w=60` or `"burst";r=50;t=30`. */
function readNamed(line: string | undefined, count: 'q' | 'r', seconds: 'w' | 't'): RateLimitPolicy[] {
  const policies: RateLimitPolicy[] = []
  for (const [name, parameters] of itemsOf(line)) {
    const amount = wholeNumber(parameters.get(count))
    const timeMs = timeOf(parameters, seconds)
    if (typeof name !== 'string' || amount === undefined || timeMs === 'malformed') return []
    policies.push({
      name,
      [count === 'q' ? 'limit' : 'remaining']: amount,
      ...(timeMs !== undefined && { [seconds === 'w' ? 'windowMs' : 'resetMs']: timeMs }),
    })
  }
  return policies
}

/** `100;w=60` */
function readWindows(line: string | undefined): RateLimitPolicy[] {
  return itemsOf(line).flatMap(([limit, parameters]) => {
    const windowMs = timeOf(parameters, 'w')
    const count = wholeNumber(limit)
    return count === undefined || typeof windowMs !== 'number' || windowMs === 0 ? [] : [{ limit: count, windowMs }]
  })
}

/** `limit=100, remaining=50, reset=5` */
function readDictionary(line: string): RateLimitPolicy | undefined {
  const fields = attempt(() => parseDictionary(line)) ?? new Map()
  const numbers = ['limit', 'remaining', 'reset'].map((name) => wholeNumber(fields.get(name)?.[0]))
  const [limit, remaining, reset] = numbers
  if (remaining === undefined) return undefined
  return {
    ...(limit !== undefined && { limit }),
    remaining,
    ...(reset !== undefined && { resetMs: Math.min(reset * 1000, longestResetMs) }),
  }
}

function itemsOf(line: string | undefined): [BareItem, Parameters][] {
  const list = line === undefined ? [] : (attempt(() => parseList(line)) ?? [])
  // An inner list is no limit.
  return list.every(([item]) => !Array.isArray(item)) ? (list as [BareItem, Parameters][]) : []
}

function timeOf(parameters: Parameters, name: string): number | undefined | 'malformed' {
  const value = parameters.get(name)
  if (value === undefined) return undefined
  const seconds = wholeNumber(value)
  return seconds === undefined ? 'malformed' : Math.min(seconds * 1000, longestResetMs)
}

function wholeNumber(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
}

/** What is said of limits of the same name in two places. */
function merge(declared: readonly RateLimitPolicy[], present: readonly RateLimitPolicy[]): RateLimitPolicy[] {
  const byName = tightestByName(declared)
  for (const [name, policy] of tightestByName(present)) byName.set(name, { ...byName.get(name), ...policy })
  return [...byName.values()]
}

/** Of several of one name in one list, which should not be, the one that has least. */
function tightestByName(policies: readonly RateLimitPolicy[]): Map<string | undefined, RateLimitPolicy> {
  const byName = new Map<string | undefined, RateLimitPolicy>()
  for (const policy of policies) {
    const other = byName.get(policy.name)
    if (other === undefined || isTighter(policy, other)) byName.set(policy.name, policy)
  }
  return byName
}

function isTighter(a: RateLimitPolicy, b: RateLimitPolicy): boolean {
  const more = (a.remaining ?? a.limit ?? 0) - (b.remaining ?? b.limit ?? 0)
  return more < 0 || (more === 0 && (a.resetMs ?? a.windowMs ?? 0) > (b.resetMs ?? b.windowMs ?? 0))
}

function attempt<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch {
    return undefined
  }
}
