import { atLeastOne, nonNegativeNumber, oneOf, plainFields, positiveNumber, show, wholeNumber } from './checks.ts'
import { PolicyError } from './errors.ts'
import { FixedWindow } from './layers/fixed-window.ts'
import type { Layer } from './layers/layer.ts'
import { LeakyBucket } from './layers/leaky-bucket.ts'
import { SlidingWindowCounter } from './layers/sliding-window-counter.ts'
import { SlidingWindowLog } from './layers/sliding-window-log.ts'
import { TokenBucket } from './layers/token-bucket.ts'
import { checkHeaderHints, type HeaderHints } from './learning/header-hints.ts'
import { msPerRequest, type Rate } from './rate.ts'

/** A ceiling on the requests of every window of one length. */
export interface Quota {
  /** How many requests, a whole number of 1 or more. */
  readonly limit: number
  /** How long the window is in milliseconds, above 0. */
  readonly windowMs: number
  /** Which rule counts: exact, in constant memory, or per aligned window. @default 'sliding' */
  readonly window?: 'sliding' | 'counter' | 'fixed'
}

/**
 * What one host can bear, as plain JSON. Every part that is given holds; a departure waits for the
 * strictest.
 */
export interface Policy {
  /** The declared gap between two departures in milliseconds, above 0. Nothing relaxes it. */
  readonly intervalMs?: number
  /** How many requests in the long run, e.g. `'10r/s'`. */
  readonly rate?: Rate
  /** How many may leave at once after a rest, at least 1. @default one second of `rate`, at least 1 */
  readonly capacity?: number
  /** Why a `capacity` of more than one second of `rate` is right for this host. */
  readonly justification?: string
  /** Ceilings on windows. */
  readonly quotas?: readonly Quota[]
  /** How many requests may be in flight at once, a whole number of 1 or more. @default no bound */
  readonly concurrency?: number
  /** How many requests may wait; one more rejects with `QueueFullError`. A whole number of 1 or more. @default no bound */
  readonly maxQueue?: number
  /** Milliseconds; a request that would wait longer rejects at once with `WaitTooLongError`. 0 or more. @default no bound */
  readonly maxWaitMs?: number
  /** What happens to a request that cannot leave now. @default 'wait' */
  readonly onLimit?: 'wait' | 'reject'
  /** What is known of the headers by which the host publishes its limits. */
  readonly headers?: HeaderHints
}

const checks: { readonly [Field in keyof Required<Policy>]: (value: unknown, path: string) => unknown } = {
  intervalMs: positiveNumber,
  rate: (value, path) => msPerRequest(value as Rate, path),
  capacity: atLeastOne,
  justification: checkJustification,
  quotas: checkQuotas,
  concurrency: wholeNumber,
  maxQueue: wholeNumber,
  maxWaitMs: nonNegativeNumber,
  headers: checkHeaderHints,
  onLimit: (value, path) => oneOf(value, ['wait', 'reject'], path),
}

/** The names of the fields of a policy. */
export const policyFields = Object.keys(checks) as readonly (keyof Policy)[]

/**
 * Checks a policy that may come from a file.
 *
 * @param path what to call it in an error, e.g. `hosts["https://a.example"]`
 * @returns a copy, which nobody else can change
 * @throws {PolicyError} if a field is unknown or senseless; its `path` names the field
 */
export function checkPolicy(policy: unknown, path = 'policy'): Policy {
  const fields = plainFields(policy, policyFields, path)
  for (const name of policyFields) {
    // A field that is there and undefined is a mistake in the making: a limit that got lost on its way.
    if (name in fields) checks[name](fields[name], `${path}.${name}`)
  }
  if ('capacity' in fields && !('rate' in fields)) {
    throw new PolicyError(`${path}.capacity`, 'is the burst of a rate, but there is no rate')
  }
  return structuredClone(fields)
}

/** Makes the layers of a policy: the interval, the burst, then the quotas. */
export function layersOf(policy: Policy): Layer[] {
  const layers: Layer[] = []
  if (policy.intervalMs !== undefined) layers.push(new LeakyBucket({ intervalMs: policy.intervalMs }))
  if (policy.rate !== undefined) layers.push(new TokenBucket({ rate: policy.rate, ...pick(policy, 'capacity') }))
  for (const quota of policy.quotas ?? []) layers.push(quotaLayer(quota))
  return layers
}

/** The gap in milliseconds that a policy comes to in the long run; `undefined` if it does not say how fast to go. */
export function declaredGapMs({ intervalMs, rate, quotas = [] }: Policy): number | undefined {
  if (intervalMs !== undefined || rate !== undefined) {
    return Math.max(intervalMs ?? 0, rate === undefined ? 0 : msPerRequest(rate))
  }
  return quotas.length === 0 ? undefined : Math.max(...quotas.map((quota) => quota.windowMs / quota.limit))
}

/**
 * Lays one policy over another: each field of `over` replaces that of `base`. The fields that speak of
 * the burst (`rate`, `capacity`, `justification`) are replaced together.
 */
export function mergePolicies(base: Policy, over: Policy): Policy {
  if (over.rate === undefined) return { ...base, ...over }
  const { capacity: _capacity, justification: _justification, ...rest } = base
  return { ...rest, ...over }
}

/** The part of a policy that is left for one of so many. Nobody can have less than one request in flight. */
export function shareOf(policy: Policy, workers: number): Policy {
  const { intervalMs, rate, capacity, quotas, concurrency } = policy
  const ratePerSecond = rate === undefined ? 0 : 1000 / msPerRequest(rate)
  return {
    ...policy,
    ...(intervalMs !== undefined && { intervalMs: intervalMs * workers }),
    ...(rate !== undefined && {
      rate: ratePerSecond / workers,
      capacity: Math.max(1, (capacity ?? ratePerSecond) / workers),
    }),
    ...(quotas && { quotas: quotas.map((quota) => shareOfQuota(quota, workers)) }),
    ...(concurrency !== undefined && { concurrency: Math.max(1, Math.floor(concurrency / workers)) }),
  }
}

/** Where there is less than one request for each per window, each gets one per several windows. */
function shareOfQuota(quota: Quota, workers: number): Quota {
  const limit = Math.floor(quota.limit / workers)
  if (limit >= 1) return { ...quota, limit }
  return { ...quota, limit: 1, windowMs: quota.windowMs * Math.ceil(workers / quota.limit) }
}

function quotaLayer({ window = 'sliding', ...options }: Quota): Layer {
  if (window === 'counter') return new SlidingWindowCounter(options)
  return window === 'fixed' ? new FixedWindow(options) : new SlidingWindowLog(options)
}

function checkJustification(value: unknown, path: string): void {
  if (typeof value !== 'string' || value.trim() === '') {
    throw new PolicyError(path, `must say in words why the burst is right, got ${show(value)}`)
  }
}

function checkQuotas(value: unknown, path: string): void {
  if (!Array.isArray(value)) throw new PolicyError(path, `must be a list of quotas, got ${show(value)}`)
  for (const [index, quota] of value.entries()) {
    const fields = plainFields(quota, ['limit', 'windowMs', 'window'], `${path}[${index}]`)
    wholeNumber(fields.limit, `${path}[${index}].limit`)
    positiveNumber(fields.windowMs, `${path}[${index}].windowMs`)
    if ('window' in fields) oneOf(fields.window, ['sliding', 'counter', 'fixed'], `${path}[${index}].window`)
  }
}

function pick<T extends object, K extends keyof T>(from: T, name: K): Pick<T, K> | Record<string, never> {
  return from[name] === undefined ? {} : ({ [name]: from[name] } as Pick<T, K>)
}
