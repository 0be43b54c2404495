import { forgivenAfterMs, type LearnedGap } from './learned.ts'

/** Between which bounds, and from what, a gap is learned. */
export interface GapRules {
  readonly startIntervalMs: number
  readonly minIntervalMs: number
  readonly maxIntervalMs: number
  readonly targetConcurrency: number
  /** Whether the latency counts on a host for which something is declared. */
  readonly latency: boolean
}

/** What one answer says about how fast its host can go. */
export interface GapAnswer {
  readonly status: number
  /** Whether it says that the host had too much, and whether it then says how long to stay away. */
  readonly isLimited: boolean
  readonly isHinted: boolean
  readonly latencyMs: number | undefined
  /** The gap that the host's own published limits ask for, if it publishes any. */
  readonly publishedMs: number | undefined
  readonly departedAtMs: number
}

/** After a complaint the gap is so many times the one that the host complained about, and gets no shorter. */
const timesRefused = 2

/** Below this a gap that only complaints have made is none. */
const leastGapMs = 1

/**
 * Learns the gap between two requests.
 *
 * On a host of which nothing is declared (and on others with `latency`), a good answer (2xx, 3xx) moves it half-way to
 * the latency divided by the concurrency aimed at, as AutoThrottle of Scrapy has it, or at once to what the host itself
 * publishes. An answer that is neither good nor a complaint never makes it shorter. On a declared host it is 0 until
 * the host complains.
 *
 * A complaint doubles it, once for all that had departed before, and for 30 minutes it gets no shorter; then good answers
 * bring it back. Where the pace is declared and the host says when to come back, it takes a second complaint after that.
 *
 * @param declaredMs the gap that the policy comes to, `undefined` for a host of which nothing is declared
 * @returns the new state; the same if nothing changes; `undefined` if nothing is left of it
 */
export function gapAfter(
  gap: LearnedGap | undefined,
  answer: GapAnswer,
  declaredMs: number | undefined,
  rules: GapRules,
  nowMs: number,
): LearnedGap | undefined {
  if (answer.isLimited) return afterComplaint(gap, answer, declaredMs, rules, nowMs)
  const refusal = refusalOf(gap, nowMs)
  const isGood = answer.status >= 200 && answer.status < 400
  if (declaredMs !== undefined && !rules.latency) return isGood ? afterGood(gap, refusal, nowMs) : gap

  const presentMs = presentGapMs(gap, declaredMs, rules)
  const publishedMs = declaredMs === undefined ? answer.publishedMs : undefined
  const aimMs = publishedMs ?? latencyAim(answer, rules)
  if (aimMs === undefined) return gap
  const leastMs = Math.max(leastAfter(refusal), declaredMs === undefined ? rules.minIntervalMs : 0)
  const targetMs = Math.min(Math.max(aimMs, leastMs), rules.maxIntervalMs)
  const gapMs = publishedMs === undefined ? (presentMs + targetMs) / 2 : targetMs
  if (!isGood && gapMs <= presentMs) return gap
  const reason = publishedMs === undefined ? `latency of ${Math.round(answer.latencyMs ?? 0)} ms` : 'published limits'
  return { gapMs, ...refusal, learnedAtMs: nowMs, reason }
}

/** The gap at present: as long as nothing has been learned, that to start with where nothing is declared, else none. */
export function presentGapMs(
  gap: LearnedGap | undefined,
  declaredMs: number | undefined,
  { startIntervalMs }: GapRules,
): number {
  return gap?.gapMs ?? (declaredMs === undefined ? startIntervalMs : 0)
}

/** What is left of the last complaint. */
type Refusal = Pick<LearnedGap, 'refusedMs' | 'refusedAtMs'>

function refusalOf(gap: LearnedGap | undefined, nowMs: number): Refusal {
  const { refusedMs, refusedAtMs } = gap ?? {}
  return refusedAtMs === undefined || nowMs >= refusedAtMs + forgivenAfterMs ? {} : { refusedMs, refusedAtMs }
}

function leastAfter({ refusedMs = 0 }: Refusal): number {
  return refusedMs * timesRefused
}

/** A good answer from a host whose pace is declared. */
function afterGood(gap: LearnedGap | undefined, refusal: Refusal, nowMs: number): LearnedGap | undefined {
  if (gap === undefined) return undefined
  const targetMs = Math.min(gap.gapMs, leastAfter(refusal))
  const gapMs = (gap.gapMs + targetMs) / 2
  const isNone = gapMs < leastGapMs
  if (isNone && refusal.refusedMs === undefined) return undefined
  return { gapMs: isNone ? 0 : gapMs, ...refusal, learnedAtMs: nowMs, reason: 'good answers' }
}

function afterComplaint(
  gap: LearnedGap | undefined,
  { status, isHinted, publishedMs, departedAtMs }: GapAnswer,
  declaredMs: number | undefined,
  rules: GapRules,
  nowMs: number,
): LearnedGap {
  // It left before the last complaint was heard, so it belongs to that.
  if (gap?.refusedAtMs !== undefined && departedAtMs < gap.refusedAtMs) return gap
  const { minIntervalMs, maxIntervalMs } = rules
  const presentMs = presentGapMs(gap, declaredMs, rules)
  const atMs = Math.max(presentMs, declaredMs ?? Math.max(publishedMs ?? 0, minIntervalMs), leastGapMs)
  const refusedMs = Math.min(atMs, maxIntervalMs / timesRefused)
  const wasGoodSince = gap?.refusedAtMs !== undefined && gap.learnedAtMs > gap.refusedAtMs
  const isForgivable = declaredMs !== undefined && isHinted && !wasGoodSince
  return {
    gapMs: isForgivable ? presentMs : timesRefused * refusedMs,
    refusedMs,
    refusedAtMs: nowMs,
    learnedAtMs: nowMs,
    reason: `answer ${status} at a gap of ${Math.round(atMs)} ms`,
  }
}

function latencyAim({ latencyMs }: GapAnswer, { targetConcurrency }: GapRules): number | undefined {
  return latencyMs === undefined ? undefined : latencyMs / targetConcurrency
}
