import { HostLimiter, type Policy, parseRate } from '@hostpace/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FixedWindowRule } from '../../src/rules/fixed-window-rule.ts'
import { IntervalRule } from '../../src/rules/interval-rule.ts'
import { RateRule } from '../../src/rules/rate-rule.ts'
import type { Rule } from '../../src/rules/rule.ts'
import { rulesOf } from '../../src/rules/rules-of.ts'
import { WindowRule } from '../../src/rules/window-rule.ts'

/** The lines that a rule finds too many, of stamps in milliseconds. */
function found(rule: Rule, stamps: readonly number[]): number[] {
  return stamps.flatMap((atMs, index) => (rule.take({ atMs, line: index }) === undefined ? [] : [index]))
}

/** As a reader would check it: which lines end a span that has more than is permitted, looking at every pair. */
function naive(stamps: readonly number[], resolutionMs: number, leastMs: (gaps: number) => number, forgives: boolean) {
  const broken: number[] = []
  for (const [last, stamp] of stamps.entries()) {
    const from = forgives ? (broken.at(-1) ?? 0) : 0
    const spans = Array.from({ length: last - from }, (_, index) => from + index)
    // The requests came within less than this.
    const withinMs = (first: number) => stamp + resolutionMs - (stamps[first] as number)
    if (spans.some((first) => leastMs(last - first) >= withinMs(first) - 1e-6)) broken.push(last)
  }
  return broken
}

const stampsOf = (stepMs: number) =>
  fc.array(fc.nat(12), { maxLength: 60 }).map((gaps) => {
    let atMs = 0
    return gaps.map((gap) => {
      atMs += gap > 8 ? 0 : gap * stepMs
      return atMs
    })
  })

const resolutions = fc.constantFrom(1, 10, 1000)
const logs = resolutions.chain((resolutionMs) => fc.tuple(fc.constant(resolutionMs), stampsOf(resolutionMs)))

describe('each rule finds what a naive look at every pair of requests finds', () => {
  test('intervals', () => {
    fc.assert(
      fc.property(logs, fc.integer({ min: 1, max: 5000 }), ([resolutionMs, stamps], intervalMs) => {
        const expected = naive(stamps, resolutionMs, (gaps) => gaps * intervalMs, true)
        expect(found(new IntervalRule(intervalMs, resolutionMs), stamps)).toEqual(expected)
      }),
      { numRuns: 2000 },
    )
  })

  test('token buckets', () => {
    const rates = fc.constantFrom(0.5, 1, 3, '80r/m', '10r/s', 70, 300)
    const capacities = fc.option(fc.oneof(fc.integer({ min: 1, max: 3 }), fc.double({ min: 1, max: 8, noNaN: true })), {
      nil: undefined,
    })
    fc.assert(
      fc.property(logs, rates, capacities, ([resolutionMs, stamps], rate, capacity) => {
        const perSecond = parseRate(rate)
        const burst = capacity ?? Math.max(1, perSecond)
        const expected = naive(stamps, resolutionMs, (gaps) => ((gaps + 1 - burst) * 1000) / perSecond, false)
        expect(found(new RateRule(rate, capacity, resolutionMs), stamps)).toEqual(expected)
      }),
      { numRuns: 2000 },
    )
  })

  test('windows, where stamps are finer than a window', () => {
    fc.assert(
      fc.property(
        stampsOf(10),
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 30 }),
        (stamps, limit, length) => {
          const windowMs = length * 10
          const overfull = stamps.flatMap((stamp, last) => {
            const within = stamps.filter((other, index) => index <= last && stamp + 10 - other <= windowMs)
            return within.length > limit ? [last] : []
          })
          const lines = found(new WindowRule(limit, windowMs, 10), stamps)
          expect(lines).toEqual(expect.arrayContaining(overfull))
          // Nobody is accused of the first that was overfull, or of windows too coarse to count, before there is one.
          const chains = naive(stamps, 10, (gaps) => Math.floor(gaps / limit) * windowMs, false)
          expect(lines[0]).toBe(chains[0])
        },
      ),
      { numRuns: 2000 },
    )
  })

  test('windows of exact stamps: more than the limit in the window that ends there', () => {
    fc.assert(
      fc.property(
        stampsOf(1000),
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 12_000 }),
        (stamps, limit, windowMs) => {
          const rule = new WindowRule(limit, windowMs, 0.001)
          const counts = stamps.map(
            (stamp, last) => stamps.filter((other, index) => index <= last && stamp + 0.001 - other <= windowMs).length,
          )
          const overfull = counts.flatMap((count, index) => (count > limit ? [index] : []))
          expect(found(rule, stamps)).toEqual(expect.arrayContaining(overfull))
          if (stamps.length > 0) expect(rule.worst?.count).toBe(Math.max(...counts))
        },
      ),
      { numRuns: 1000 },
    )
  })

  test('fixed windows', () => {
    fc.assert(
      fc.property(stampsOf(10), fc.integer({ min: 1, max: 6 }), fc.nat(1000), (stamps, limit, start) => {
        const [windowMs, startMs] = [100, start * 10]
        const windowOf = (atMs: number) => Math.floor((startMs + atMs) / windowMs)
        const expected = stamps.flatMap((stamp, last) => {
          const count = stamps.filter((other, index) => index <= last && windowOf(other) === windowOf(stamp)).length
          return count > limit ? [last] : []
        })
        expect(found(new FixedWindowRule(limit, windowMs, 10, startMs), stamps)).toEqual(expected)
      }),
    )
  })
})

const policies: fc.Arbitrary<Policy> = fc.record(
  {
    intervalMs: fc.double({ min: 0.5, max: 3000, noNaN: true }),
    rate: fc.double({ min: 0.5, max: 50, noNaN: true }),
    quotas: fc.array(
      fc.record({ limit: fc.integer({ min: 1, max: 9 }), windowMs: fc.integer({ min: 1, max: 9000 }) }),
      {
        maxLength: 2,
      },
    ),
  },
  { requiredKeys: [] },
)

test('whatever the library paces honours its policy, however coarse the log', () => {
  const gaps = fc.array(fc.double({ min: 0, max: 900, noNaN: true }), { maxLength: 80 })
  fc.assert(
    fc.property(policies, gaps, resolutions, (policy, waits, resolutionMs) => {
      let nowMs = 0
      const limiter = new HostLimiter(policy, { clock: { now: () => nowMs } })
      const rules = rulesOf(policy, resolutionMs, 0)
      for (const [line, wait] of waits.entries()) {
        nowMs += wait
        const departMs = nowMs + limiter.acquire()
        // A nanosecond is now.
        const atMs = Math.floor((departMs + 1e-5) / resolutionMs) * resolutionMs
        for (const rule of rules) expect(rule.take({ atMs, line })).toBeUndefined()
      }
    }),
    { numRuns: 1000 },
  )
})
