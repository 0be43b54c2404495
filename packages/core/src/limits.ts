import { LayerStack } from './layer-stack.ts'
import { LeakyBucket } from './layers/leaky-bucket.ts'
import { isDeclared, layersOf, type Policy } from './policy.ts'

/**
 * A policy made ready for use: its layers, and an identity, so that hosts with the same policy share one.
 */
export class Limits {
  readonly policy: Policy
  /** The same for the same policy, in every process. */
  readonly fingerprint: string
  readonly stack: LayerStack
  /** How many requests may be in flight at once. */
  readonly concurrency: number
  /** Whether the requests in flight are bounded. */
  readonly isBounded: boolean

  /** @param unknownIntervalMs the gap to start with where nothing is declared */
  constructor(policy: Policy, unknownIntervalMs: number) {
    this.policy = policy
    this.fingerprint = fingerprintOf(policy, unknownIntervalMs)
    this.concurrency = policy.concurrency ?? Number.POSITIVE_INFINITY
    this.isBounded = this.concurrency !== Number.POSITIVE_INFINITY
    const layers = isDeclared(policy)
      ? layersOf(policy)
      : [new LeakyBucket({ intervalMs: unknownIntervalMs, name: 'adaptive' })]
    this.stack = new LayerStack(layers)
  }
}

/** What the layers of a policy depend on. */
export function fingerprintOf(policy: Policy, unknownIntervalMs: number): string {
  const { intervalMs, rate, capacity, justification, quotas, concurrency, maxQueue, maxWaitMs, onLimit } = policy
  const start = isDeclared(policy) ? undefined : unknownIntervalMs
  return JSON.stringify([
    [
      intervalMs,
      rate,
      capacity,
      quotas?.map((quota) => [quota.limit, quota.windowMs, quota.window]),
      concurrency,
      start,
    ],
    [justification, maxQueue, maxWaitMs, onLimit],
  ])
}
