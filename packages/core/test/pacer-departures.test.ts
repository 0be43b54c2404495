import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPacer, type Policy } from '../src/index.ts'
import { ManualClock } from '../src/testing/manual-clock.ts'
import { anyPolicy } from './any-policy.ts'
import { allHold, type Departure, naiveEarliest, naiveRules } from './naive-departures.ts'

interface Request {
  /** Milliseconds after the one before. */
  readonly afterMs: number
  readonly cost: number
  /** How long it is ready to wait before its signal is aborted. */
  readonly patienceMs: number | undefined
}

/** Fractions keep aborts and departures from falling on one instant, where either may come first. */
const request: fc.Arbitrary<Request> = fc.record({
  afterMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 900 })),
  cost: fc.integer({ min: 1, max: 3 }),
  patienceMs: fc.option(
    fc.integer({ min: 0, max: 2000 }).map((ms) => ms + 0.1234),
    { nil: undefined, freq: 3 },
  ),
})

interface Hold {
  readonly atMs: number
  readonly forMs: number
}

const url = 'https://a.example/'

/** Plays requests, and the pauses of the host, on a pacer. @returns who departed when, in that order */
async function play(policy: Policy, requests: readonly Request[], holds: readonly Hold[] = []) {
  const clock = new ManualClock()
  const pacer = createPacer({ ...policy, clock })
  const departures: (Departure & { index: number })[] = []
  const errors: unknown[] = []
  let atMs = 0
  for (const { atMs, forMs } of holds) clock.setTimer(() => pacer.pause(url, forMs), atMs)
  for (const [index, { afterMs, cost, patienceMs }] of requests.entries()) {
    atMs += afterMs
    clock.setTimer(() => {
      const giveUp = new AbortController()
      pacer.wait(url, { cost, signal: giveUp.signal }).then(
        (permit) => {
          departures.push({ atMs: clock.now(), cost, index })
          permit.done()
        },
        (error) => errors.push(error),
      )
      if (patienceMs !== undefined) clock.setTimer(() => giveUp.abort(index), patienceMs)
    }, atMs)
  }
  await clock.advanceAsync(1_000_000)
  expect(pacer.stats().total).toMatchObject({ queued: 0, inFlight: 0, departures: departures.length })
  expect(departures.length + errors.length).toBe(requests.length)
  expect(clock.timers).toBe(0)
  await pacer.close()
  return departures
}

/**
 * First come, first served, at the earliest moment that the rules permit. Whoever gives up is from then on as if he
 * had never come: those behind him may leave at that moment if the rules permit it. Timers take whole milliseconds, so a departure may be less than one late, and the next is counted
 * from there.
 */
function expectEarliest(
  departures: readonly (Departure & { index: number })[],
  policy: Policy,
  requests: readonly Request[],
  holds: readonly Hold[] = [],
): void {
  const rules = naiveRules(policy)
  const before: Departure[] = []
  let comesMs = 0
  let lastMs = 0
  for (const [index, { afterMs, cost, patienceMs = Number.POSITIVE_INFINITY }] of requests.entries()) {
    comesMs += afterMs
    let earliestMs = naiveEarliest(rules, before, Math.max(comesMs, lastMs), cost)
    for (const { atMs, forMs } of holds) if (earliestMs >= atMs) earliestMs = Math.max(earliestMs, atMs + forMs)
    const departure = departures[before.length]
    if (departure?.index !== index) {
      expect(earliestMs + 1).toBeGreaterThan(comesMs + patienceMs)
      lastMs = Math.max(lastMs, comesMs + patienceMs)
      continue
    }
    expect(departure.atMs).toBeGreaterThanOrEqual(earliestMs - 1e-5)
    expect(departure.atMs).toBeLessThan(earliestMs + 1)
    before.push(departure)
    lastMs = departure.atMs
  }
  expect(before).toHaveLength(departures.length)
}

test('each departs at the earliest moment that the layers permit, and whoever gives up leaves no trace', async () => {
  await fc.assert(
    fc.asyncProperty(anyPolicy, fc.array(request, { maxLength: 25 }), async (policy, requests) => {
      const departures = await play(policy, requests)
      expect(allHold(naiveRules(policy), departures)).toBe(true)
      expectEarliest(departures, policy, requests)
    }),
    { numRuns: 1000 },
  )
}, 120_000)

const hold = fc.record({
  atMs: fc.integer({ min: 0, max: 4000 }).map((ms) => ms + 0.0321),
  forMs: fc.integer({ min: 0, max: 3000 }),
})

test('nobody departs during a pause, and the layers hold after it', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyPolicy,
      fc.array(request, { maxLength: 20 }),
      fc.array(hold, { maxLength: 3 }),
      async (policy, requests, holds) => {
        const departures = await play(policy, requests, holds)
        expect(allHold(naiveRules(policy), departures)).toBe(true)
        for (const { atMs, forMs } of holds) {
          expect(
            departures.filter((departure) => departure.atMs >= atMs && departure.atMs < atMs + forMs - 1e-5),
          ).toEqual([])
        }
        const order = departures.map(({ index }) => index)
        expect(order).toEqual([...order].sort((a, b) => a - b))
      },
    ),
    { numRuns: 1000 },
  )
}, 120_000)

test('with an interval alone, requests leave as soon as the pause is over', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(10, 250, 1000),
      fc.array(request, { maxLength: 20 }),
      fc.array(hold, { maxLength: 1 }),
      async (intervalMs, requests, holds) => {
        expectEarliest(await play({ intervalMs }, requests, holds), { intervalMs }, requests, holds)
      },
    ),
    { numRuns: 300 },
  )
}, 60_000)
