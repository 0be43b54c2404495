import { nonNegativeNumber, plainFields } from '../checks.ts'
import { type HeaderEntries, headerEntries } from '../headers.ts'
import type { HeaderCarrier } from '../permit.ts'
import { flatPolicies, vendorPolicies } from './flat-limits.ts'
import { checkHeaderHints, type HeaderHints } from './header-hints.ts'
import { parseRetryAfter, serverTime } from './retry-after.ts'
import { standardPolicies } from './standard-limits.ts'

/** One limit as a host publishes it. What it does not say is left out. */
export interface RateLimitPolicy {
  /** What it calls this limit, where it has several. */
  readonly name?: string
  /** How many requests (or other units) a window has, 0 or more. */
  readonly limit?: number
  /** How many are left in the present window, 0 or more. */
  readonly remaining?: number
  /** Milliseconds until the window is over, 0 or more. */
  readonly resetMs?: number
  /** How long a window is in milliseconds, above 0. */
  readonly windowMs?: number
}

/** What response headers say about how fast to go. */
export interface RateLimit {
  /** Milliseconds that the host asks to stay away, 0 or more. */
  readonly retryAfterMs?: number
  readonly policies: readonly RateLimitPolicy[]
  /** Which of several resources of the host, each counted apart, the policies are of. */
  readonly resource?: string
}

/** What the headers came with; a plain object. */
export interface RateLimitContext {
  /** The status of the response. None of the known forms means something else by it. */
  readonly status?: number | undefined
  /** When they came, in milliseconds since 1970, as `Date.now()` has it. 0 or more. */
  readonly receivedAtMs: number
  /** What is known of this host's headers. @default nothing */
  readonly hints?: HeaderHints | undefined
}

const nothing: RateLimit = { policies: [] }
const always: ReadonlySet<string> = new Set(['retry-after', 'date', 'age'])

/**
 * Reads what response headers say about how fast to go: `Retry-After` (RFC 9110), `RateLimit` and `RateLimit-Policy`
 * (IETF draft "RateLimit header fields for HTTP", version 10 and the forms before it back to polli-00), the
 * `X-RateLimit-*` family, and those of single vendors.
 *
 * Moments are compared with the response's own `Date` unless a cache has kept it (`Age`), else with `receivedAtMs`.
 * What is malformed is as if it were not there: it never throws, and gives no `NaN`, nothing negative and no reset
 * beyond 31 days; a bare number of seconds that is more than a day, which may be milliseconds, counts as a day.
 *
 * @throws {PolicyError} if `context` makes no sense; its `path` names the field. Headers are never refused
 */
export function parseRateLimit(headers: HeaderCarrier | undefined, context: RateLimitContext): RateLimit {
  const { receivedAtMs, hints } = plainFields(context, ['status', 'receivedAtMs', 'hints'], 'context')
  nonNegativeNumber(receivedAtMs, 'context.receivedAtMs')
  if (hints !== undefined) checkHeaderHints(hints, 'context.hints')
  return readRateLimit(headers, context)
}

/** The same for a context that is known to make sense. It runs once for each answer. */
export function readRateLimit(
  headers: HeaderCarrier | undefined,
  { receivedAtMs, hints = {} }: RateLimitContext,
): RateLimit {
  const own = Object.values(hints.names ?? {}).map((name: string) => name.toLowerCase())
  const isWanted = (name: string) => name.includes('limit') || always.has(name) || own.includes(name)
  const entries: HeaderEntries = headerEntries(headers, isWanted)
  // Most answers say nothing.
  const dates = Number(entries.has('date')) + Number(entries.has('age'))
  if (entries.size === dates) return nothing
  const retryAfterMs = parseRetryAfter(entries, receivedAtMs)
  const wallNowMs = serverTime(entries, receivedAtMs)
  const readers = [standardPolicies, vendorPolicies, flatPolicies]
  let policies: readonly RateLimitPolicy[] = []
  for (const read of readers) {
    policies = read(entries, wallNowMs, hints)
    if (policies.length > 0) break
  }
  const resource = entries.get('x-ratelimit-resource') ?? entries.get('x-ratelimit-bucket')
  return {
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    policies,
    ...(resource !== undefined && { resource }),
  }
}
