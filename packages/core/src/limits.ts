import { LayerStack } from './layer-stack.ts'
import { AdaptiveGap } from './layers/adaptive-gap.ts'
import { PublishedBudget } from './layers/published-budget.ts'
import { declaredGapMs, layersOf, type Policy, shareOf } from './policy.ts'
import { msPerRequest } from './rate.ts'

/**
 * A policy made ready for use: its layers, and an identity, so that hosts with the same policy share one.
 */
export class Limits {
  readonly policy: Policy
  /** The same for the same policy, in every process. */
  readonly fingerprint: string
  /** The same for the same layers and the same bound of requests in flight, however they are written: those share credit. */
  readonly creditName: string
  readonly stack: LayerStack
  /** The gap in milliseconds that the policy comes to in the long run; `undefined` where nothing is declared. */
  readonly declaredGapMs: number | undefined
  /** Whether there are layers for what is learned beside those of the policy. */
  readonly learns: boolean
  /** How many requests may be in flight at once. */
  readonly concurrency: number
  /** Whether the requests in flight are bounded. */
  readonly isBounded: boolean
  readonly #unknownIntervalMs: number

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
    this.#unknownIntervalMs = unknownIntervalMs
    this.creditName = creditNameOf(policy, unknownIntervalMs)
    const isUnknown = this.declaredGapMs === undefined
    this.stack = new LayerStack([
      ...layersOf(policy),
      ...(isUnknown || learns ? [new AdaptiveGap(isUnknown ? unknownIntervalMs : 0)] : []),
      ...(learns ? [new PublishedBudget()] : []),
    ])
  }

  /** The same limits with layers for what is learned. */
  learning(): Limits {
    return this.learns ? this : new Limits(this.policy, this.#unknownIntervalMs, true)
  }

  /** What each of so many processes may send that do not know of each other, so that all together keep to these limits. */
  shareOf(workers: number): Limits {
    return new Limits(shareOf(this.policy, workers), this.#unknownIntervalMs * workers, this.learns)
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

function creditNameOf(policy: Policy, unknownIntervalMs: number): string {
  const { intervalMs, rate, capacity, quotas = [], concurrency } = policy
  return JSON.stringify([
    intervalMs,
    rate === undefined ? undefined : msPerRequest(rate),
    capacity,
    quotas.map(({ limit, windowMs, window = 'sliding' }) => [limit, windowMs, window]),
    concurrency,
    declaredGapMs(policy) === undefined ? unknownIntervalMs : undefined,
  ])
}
