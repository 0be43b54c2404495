import type { Policy } from '../src/policy.ts'
import { parseRate } from '../src/rate.ts'

/** One that has left or was promised to leave. */
export interface Departure {
  readonly atMs: number
  readonly cost: number
}

/** Sums of fractions differ in the last digits, depending on the order; a nanosecond is no difference. */
const toleranceMs = 1e-5

/**
 * The reference: it keeps the whole history and checks each rule by its definition. Slow, and to be checked by eye.
 */
interface NaiveRule {
  /** Whether these departures, in the order of their times, keep to the rule. */
  holds(departures: readonly Departure[]): boolean
  /** Moments after `before` at which the rule may begin to permit one more of `cost`. */
  candidates(before: readonly Departure[], cost: number): number[]
}

function naiveInterval(intervalMs: number): NaiveRule {
  return {
    holds: (departures) =>
      departures.every((departure, index) => {
        const next = departures[index + 1]
        return next === undefined || next.atMs - departure.atMs >= departure.cost * intervalMs - toleranceMs
      }),
    candidates: (before) => before.map(({ atMs, cost }) => atMs + cost * intervalMs),
  }
}

function naiveBucket(ratePerSecond: number, capacity: number): NaiveRule {
  const perMs = ratePerSecond / 1000
  /** Tokens left after each departure. */
  const levels = (departures: readonly Departure[]) => {
    let level = capacity
    let lastMs = departures[0]?.atMs ?? 0
    return departures.map(({ atMs, cost }) => {
      level = Math.min(capacity, level + (atMs - lastMs) * perMs) - cost
      lastMs = atMs
      return level
    })
  }
  return {
    holds: (departures) => levels(departures).every((level) => level >= -toleranceMs * perMs),
    candidates: (before, cost) => {
      const last = before[before.length - 1]
      return last === undefined ? [] : [last.atMs + (cost - (levels(before).at(-1) as number)) / perMs]
    },
  }
}

function naiveSlidingWindow(limit: number, windowMs: number): NaiveRule {
  return {
    holds: (departures) =>
      departures.every(({ atMs: endMs }, end) => {
        const within = departures.filter(({ atMs }, index) => index <= end && atMs + windowMs > endMs + toleranceMs)
        return sum(within) <= limit
      }),
    candidates: (before) => before.map(({ atMs }) => atMs + windowMs),
  }
}

function naiveCounter(limit: number, windowMs: number): NaiveRule {
  const windowOf = (atMs: number) => Math.floor(atMs / windowMs)
  const inWindow = (departures: readonly Departure[], window: number) =>
    sum(departures.filter(({ atMs }) => windowOf(atMs) === window))
  return {
    holds: (departures) =>
      departures.every(({ atMs }, index) => {
        const soFar = departures.slice(0, index + 1)
        const window = windowOf(atMs)
        const share = window + 1 - atMs / windowMs
        return inWindow(soFar, window - 1) * share + inWindow(soFar, window) <= limit + 1e-6
      }),
    candidates: (before, cost) =>
      [...new Set(before.map(({ atMs }) => windowOf(atMs)))].flatMap((window) =>
        [window, window + 1, window + 2].flatMap((w) => {
          const room = limit - inWindow(before, w) - cost
          return [w * windowMs, (w + 1 - Math.max(0, room) / inWindow(before, w - 1)) * windowMs]
        }),
      ),
  }
}

function naiveFixedWindow(limit: number, windowMs: number): NaiveRule {
  const windowOf = ({ atMs }: Departure) => Math.floor(atMs / windowMs)
  return {
    holds: (departures) =>
      departures.every((departure) => sum(departures.filter((d) => windowOf(d) === windowOf(departure))) <= limit),
    candidates: (before) => before.map((departure) => (windowOf(departure) + 1) * windowMs),
  }
}

/** The rules of a policy. */
export function naiveRules(policy: Policy): NaiveRule[] {
  const { intervalMs, rate, quotas = [] } = policy
  const rules: NaiveRule[] = []
  if (intervalMs !== undefined) rules.push(naiveInterval(intervalMs))
  if (rate !== undefined) {
    const perSecond = parseRate(rate)
    rules.push(naiveBucket(perSecond, policy.capacity ?? Math.max(1, perSecond)))
  }
  const windows = { sliding: naiveSlidingWindow, counter: naiveCounter, fixed: naiveFixedWindow }
  for (const { limit, windowMs, window = 'sliding' } of quotas) rules.push(windows[window](limit, windowMs))
  return rules
}

/** Whether all rules hold for these departures. */
export function allHold(rules: readonly NaiveRule[], departures: readonly Departure[]): boolean {
  const sorted = [...departures].sort((a, b) => a.atMs - b.atMs)
  return rules.every((rule) => rule.holds(sorted))
}

/** The earliest moment from `fromMs` on at which one more of `cost` may depart, with all others as they are. */
export function naiveEarliest(
  rules: readonly NaiveRule[],
  departures: readonly Departure[],
  fromMs: number,
  cost: number,
): number {
  const sorted = [...departures].sort((a, b) => a.atMs - b.atMs)
  const prefixes = [0, ...sorted.keys()].map((_, index) => sorted.slice(0, index))
  const moments = [...prefixes, sorted].flatMap((before) => [
    before.at(-1)?.atMs ?? fromMs,
    ...rules.flatMap((rule) => rule.candidates(before, cost)),
  ])
  const candidates = [fromMs, ...moments.filter((atMs) => atMs > fromMs && Number.isFinite(atMs))].sort((a, b) => a - b)
  const found = candidates.find((atMs) => allHold(rules, insert(sorted, { atMs, cost })))
  if (found === undefined) throw new Error('The reference finds no departure')
  return found
}

/** Behind those of the same moment: a new one comes after those that were there. */
function insert(sorted: readonly Departure[], departure: Departure): Departure[] {
  const place = sorted.filter(({ atMs }) => atMs <= departure.atMs).length
  return [...sorted.slice(0, place), departure, ...sorted.slice(place)]
}

function sum(departures: readonly Departure[]): number {
  return departures.reduce((total, { cost }) => total + cost, 0)
}
