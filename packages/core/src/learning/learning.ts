import type { Desk } from '../desk.ts'
import type { HostPermit } from '../host-permit.ts'
import type { Limits } from '../limits.ts'
import type { Outcome } from '../permit.ts'
import { type GapAnswer, type GapRules, gapAfter, presentGapMs } from './gap.ts'
import { isLimitAnswer, type LimitAnswer } from './hold.ts'
import type { Holds } from './holds.ts'
import type { Lanes } from './lanes.ts'
import type { Learned, LearnedGap, PublishedLimit } from './learned.ts'
import { exhaustedMs, publishedAfter, publishedGapMs } from './published.ts'
import { type RateLimit, type RateLimitPolicy, readRateLimit } from './rate-limit.ts'

/** An answer that is looked at. */
export interface Observation {
  readonly outcome: Outcome
  readonly departedAtMs: number
  /** Where the request went, if that is known. */
  readonly url: string | URL | undefined
  /** How many requests have departed after the one that was answered. */
  readonly outstanding: number
  /** The permit of the resource that it was taken to be for, if it waited for one. */
  readonly lane?: HostPermit | undefined
}

const nothing: Learned = {}
const nonePublished: readonly PublishedLimit[] = []

/** How much longer than before a wait must be for those in line to be told at once. */
const worthTelling = 1.1

/** Learns from answers how fast a host can go, and holds it when it complains. */
export class Learning {
  readonly #desk: Desk
  readonly #holds: Holds
  readonly #lanes: Lanes
  readonly #wallNow: () => number
  readonly #rules: GapRules | undefined

  /** @param rules what is learned by; `undefined` for nothing: answers are only told of */
  constructor(desk: Desk, holds: Holds, lanes: Lanes, wallNow: () => number, rules: GapRules | undefined) {
    this.#desk = desk
    this.#holds = holds
    this.#lanes = lanes
    this.#wallNow = wallNow
    this.#rules = rules
  }

  /** What was learned of a host. */
  of(host: number): Learned | undefined {
    return this.#desk.records.learned.get(host)
  }

  observe(host: number, observation: Observation): void {
    const { outcome, departedAtMs } = observation
    const { events, store } = this.#desk
    const { status } = outcome
    if (this.#rules === undefined && !events.has('observe')) return
    const said: RateLimit = status === undefined ? { policies: [] } : this.#read(host, outcome)
    const key = store.hosts.keyOf(host)
    const hintMs = status === undefined ? undefined : hintOf(status, said)
    const isLimited = outcome.limited ?? (status !== undefined && isLimitAnswer(status, hintMs))
    if (events.has('observe')) {
      events.emit('observe', { ...outcome, key, limited: isLimited })
    }
    if (this.#rules === undefined || status === undefined) return
    const complaint = isLimited ? { status, retryAfterMs: hintMs, departedAtMs } : undefined
    const hostComplaint = this.#tellResource(host, key, observation, said, complaint)
    if (hostComplaint !== undefined) this.#holds.complained(host, hostComplaint)
    const verdict = { status, isLimited: hostComplaint !== undefined, isHinted: hintMs !== undefined }
    this.#learn(host, observation, verdict, said.resource === undefined ? said.policies : [], this.#rules)
  }

  /**
   * Tells the resource that an answer speaks of, if it names one.
   *
   * @returns the complaint as far as it concerns the host: a resource that is used up says nothing against the others
   */
  #tellResource(
    host: number,
    key: string,
    { departedAtMs, url = key, lane: passed }: Observation,
    { resource, policies, retryAfterMs }: RateLimit,
    complaint: LimitAnswer | undefined,
  ): LimitAnswer | undefined {
    if (resource === undefined) return complaint
    const isNews = this.#lanes.laneOf(key, url) === undefined
    const lane = this.#lanes.assign(key, url, resource)
    const isUsedUp = policies.some(({ remaining }) => remaining === 0)
    const resetMs = exhaustedMs(policies, retryAfterMs === undefined)
    const isOfLane = isUsedUp || (retryAfterMs === undefined && resetMs !== undefined)
    const waitMs = Math.max(retryAfterMs ?? 0, resetMs ?? 0) || undefined
    const laneComplaint = complaint && isOfLane ? { ...complaint, retryAfterMs: waitMs } : undefined
    this.#lanes.pacer?.observeResource(lane, policies, departedAtMs, passed, this.#lanes.underWay(lane), laneComplaint)
    // Those who lined up for the host before this was known have to wait for their resource first.
    if (isNews) this.#desk.store.hosts.freed(host)
    return isOfLane ? undefined : complaint
  }

  /** Takes in what is published of a host, and nothing else. */
  learnPublished(host: number, policies: readonly RateLimitPolicy[], departedAtMs: number, outstanding: number): void {
    const desk = this.#desk
    const before = this.of(host) ?? nothing
    const { published: known = nonePublished } = before
    const published = publishedAfter(known, policies, departedAtMs, outstanding, desk.now())
    if (published !== known) desk.learn(host, { ...before, published }, true)
  }

  #read(host: number, { status, headers }: Outcome): RateLimit {
    const hints = this.#desk.knownLimitsOf(host).policy.headers
    return readRateLimit(headers, { status, receivedAtMs: this.#wallNow(), hints })
  }

  #learn(
    host: number,
    { outcome, departedAtMs, outstanding }: Observation,
    verdict: Pick<GapAnswer, 'status' | 'isLimited' | 'isHinted'>,
    policies: readonly RateLimitPolicy[],
    rules: GapRules,
  ): void {
    const desk = this.#desk
    const nowMs = desk.now()
    const before = this.of(host) ?? nothing
    const { published: known = nonePublished } = before
    const published = publishedAfter(known, policies, departedAtMs, outstanding, nowMs)
    const limits = desk.knownLimitsOf(host)
    const publishedMs = publishedGapMs(published, nowMs)
    const answer = { ...verdict, latencyMs: outcome.latencyMs, publishedMs, departedAtMs }
    const gap = gapAfter(before.gap, answer, limits.declaredGapMs, rules, nowMs)
    if (gap === before.gap && published === known) return
    const after: Learned = { ...(gap && { gap }), ...(published.length > 0 && { published }) }
    desk.learn(host, after, gapOf(after, limits, rules, nowMs) > gapOf(before, limits, rules, nowMs) * worthTelling)
    this.#tell(host, before.gap, gap, published)
  }

  #tell(
    host: number,
    before: LearnedGap | undefined,
    gap: LearnedGap | undefined,
    published: readonly PublishedLimit[],
  ) {
    const { events, store } = this.#desk
    if (!events.has('adapt')) return
    const key = store.hosts.keyOf(host)
    if (gap !== before) {
      const reason = gap?.reason ?? 'forgotten'
      events.emit('adapt', { key, waitMs: gap?.gapMs ?? 0, layer: 'adaptive', reason })
    }
    const waitMs = publishedGapMs(published, this.#desk.now())
    if (waitMs !== undefined) events.emit('adapt', { key, waitMs, layer: 'published', reason: 'published limits' })
  }
}

/** How long the host asks to stay away, where its answer is a complaint. */
function hintOf(status: number, { retryAfterMs, policies }: RateLimit): number | undefined {
  if (retryAfterMs !== undefined || (status !== 429 && status !== 529 && status !== 403)) return retryAfterMs
  const isLoose = status !== 403
  return exhaustedMs(policies, isLoose)
}

/** The longest gap that anything learned asks for. */
function gapOf({ gap, published = [] }: Learned, limits: Limits, rules: GapRules, nowMs: number): number {
  return Math.max(presentGapMs(gap, limits.declaredGapMs, rules), publishedGapMs(published, nowMs) ?? 0)
}
