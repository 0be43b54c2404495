import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { HostLimiter, type Policy, type Reservation } from '../src/index.ts'
import { anyPolicy } from './any-policy.ts'
import { allHold, type Departure, naiveEarliest, naiveRules } from './naive-departures.ts'

type Step = { do: 'acquire' | 'reserve'; cost: number } | { do: 'cancel'; which: number } | { do: 'move'; ms: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('acquire' as const, 'reserve' as const),
      cost: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), which: fc.nat(20) }) },
  // A clock that steps back counts as one that stands still.
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('move' as const),
      ms: fc.oneof(fc.integer({ min: -500, max: 1500 }), fc.constant(0.25)),
    }),
  },
)

interface Promised extends Departure {
  readonly reservation: Reservation | undefined
  /** From when on it was open to it. */
  readonly fromMs: number
}

/** Plays steps on a limiter and on the reference, and compares every departure. @returns what departed */
function play(policy: Policy, steps: readonly Step[]): Departure[] {
  let clockMs = 0
  let nowMs = 0
  const limiter = new HostLimiter(policy, { clock: { now: () => clockMs } })
  const rules = naiveRules(policy)
  limiter.peek() // from here on it knows the clock
  let promised: Promised[] = []
  /** First come, first served, except that what is given back is open again. */
  let openFromMs = Number.NEGATIVE_INFINITY

  for (const action of steps) {
    if (action.do === 'move') {
      clockMs += action.ms
      limiter.peek() // what it has not seen of the clock it cannot know
      nowMs = Math.max(nowMs, clockMs)
    } else if (action.do === 'cancel') {
      const chosen = promised.filter(({ reservation }) => reservation)[action.which]
      chosen?.reservation?.cancel()
      if (chosen === undefined || chosen.atMs < nowMs) continue
      promised = promised.filter((one) => one !== chosen)
      openFromMs = Math.min(openFromMs, chosen.fromMs)
    } else {
      const expectedMs = naiveEarliest(rules, promised, Math.max(nowMs, openFromMs), action.cost)
      const peeked = limiter.peek(action.cost)
      const reservation = action.do === 'reserve' ? limiter.reserve(action.cost) : undefined
      const waitMs = reservation?.waitMs ?? limiter.acquire(action.cost)
      expect(waitMs).toBeCloseTo(expectedMs - nowMs, 4)
      expect(peeked.waitMs).toBe(waitMs)
      expect(peeked.layer === 'none').toBe(waitMs === 0)
      promised.push({ atMs: nowMs + waitMs, cost: action.cost, reservation, fromMs: openFromMs })
      openFromMs = nowMs + waitMs
    }
  }
  expect(allHold(rules, promised)).toBe(true)
  return promised
}

test('every departure is at the earliest moment that all layers permit, and all departures keep to every layer', () => {
  fc.assert(
    fc.property(anyPolicy, fc.array(step, { maxLength: 40 }), (policy, steps) => void play(policy, steps)),
    { numRuns: 1500 },
  )
}, 120_000)

test('a reservation that is cancelled at once leaves no trace in anybody’s time', () => {
  const asked = fc.array(
    fc.record({
      ms: fc.integer({ min: 0, max: 700 }),
      cost: fc.integer({ min: 1, max: 3 }),
      isCancelled: fc.boolean(),
    }),
    {
      maxLength: 30,
    },
  )
  fc.assert(
    fc.property(anyPolicy, asked, (policy, requests) => {
      const waits = [true, false].map((withCancelled) => {
        let nowMs = 0
        const limiter = new HostLimiter(policy, { clock: { now: () => nowMs } })
        return requests.flatMap(({ ms, cost, isCancelled }) => {
          nowMs += ms
          if (!isCancelled) return [limiter.reserve(cost).waitMs]
          if (withCancelled) limiter.reserve(cost).cancel()
          return []
        })
      })
      expect(waits[0]).toEqual(waits[1])
    }),
    { numRuns: 1000 },
  )
}, 60_000)
