import { LayerStack } from './layer-stack.ts'
import { AdaptiveGap } from './layers/adaptive-gap.ts'
import { PublishedBudget } from './layers/published-budget.ts'
import { declaredGapMs, layersOf, type Policy } from './policy.ts'

/**
 * A policy made ready for use: its layers, and an identity, so that hosts with the same policy share one.
 */
export class Limits {
  readonly policy: Policy
  /** The same for the same policy, in every process. */
  readonly fingerprint: string
  readonly stack: LayerStack
  /** The gap in milliseconds that the policy comes to in the long run; `undefined` where nothing is declared. */
  readonly declaredGapMs: number | undefined
  /** Whether there are layers for what is learned beside those of the policy. */
  readonly learns: boolean
  /** How many requests may be in flight at once. */
  readonly concurrency: number
  /** Whether the requests in flight are bounded. */
  readonly isBounded: boolean

  /**
   * @param unknownIntervalMs the gap to start with where nothing is declared
   * @param learns whether something has been learned of the hosts that these are for
   */
  constructor(policy: Policy, unknownIntervalMs: number, learns = false) {
    this.policy = policy
    this.fingerprint = fingerprintOf(policy, unknownIntervalMs)
    this.concurrency = policy.concurrency ?? Number.POSITIVE_INFINITY
    this.isBounded = this.concurrency !== Number.POSITIVE_INFINITY
    this.declaredGapMs = declaredGapMs(policy)
    this.learns = learns
    const isUnknown = this.declaredGapMs === undefined
    this.stack = new LayerStack([
      ...layersOf(policy),
      ...(isUnknown || learns ? [new AdaptiveGap(isUnknown ? unknownIntervalMs : 0)] : []),
      ...(learns ? [new PublishedBudget()] : []),
    ])
  }
}

/** What the layers of a policy depend on. */
export function fingerprintOf(policy: Policy, unknownIntervalMs: number): string {
  const { intervalMs, rate, capacity, justification, quotas, concurrency, maxQueue, maxWaitMs, onLimit, headers } =
    policy
  const start = declaredGapMs(policy) === undefined ? unknownIntervalMs : undefined
  return JSON.stringify([
    [
      intervalMs,
      rate,
      capacity,
      quotas?.map((quota) => [quota.limit, quota.windowMs, quota.window]),
      concurrency,
      start,
    ],
    [justification, maxQueue, maxWaitMs, onLimit, headers],
  ])
}
