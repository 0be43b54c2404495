import { type LedgerCall, type LedgerReply, type Limits, MemoryLedger, type Step } from '@hostpace/core/stores'
import { ManualClock } from '@hostpace/core/testing'
import * as fc from 'fast-check'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
// The policies of core's own property tests.
import { anyPolicy } from '../../core/test/any-policy.ts'
import { scriptRunnerOf } from '../src/redis-client.ts'
import { RedisLedger } from '../src/redis-ledger.ts'
import { limitsOf } from './limits.ts'
import { openServer, type RedisServer, serverIsThere } from './redis-server.ts'

type Act = {
  worker: number
  policy: number
  advanceMs: number
  inFlight: number
  steps: Move[]
  forgets: boolean
  memory: Memory | null
}
/** What the worker remembers of a later state than there is. */
type Memory = { credits: number[] | undefined }
type Move =
  | { kind: 'leave'; cost: number; order: number; more: number }
  | { kind: 'retry' | 'sent' | 'giveBack'; which: number; agoMs: number; more: number }
  | { kind: 'reserve'; cost: number; notBeforeMs: number }
  | { kind: 'pause'; forMs: number }
  | { kind: 'adopt' }
  | { kind: 'resume' | 'view' }
  | { kind: 'learn'; gapMs: number; remaining: number; resetInMs: number }
  | { kind: 'spent'; agoMs: number; cost: number }

const cost = fc.constantFrom(1, 1, 1, 2)
const agoMs = fc.constantFrom(0, 0, 0.25, 7)
const more = fc.constantFrom(0, 0, 1, 5)

const anyMove: fc.Arbitrary<Move> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('leave' as const), cost, order: fc.nat(9), more }) },
  {
    weight: 10,
    arbitrary: fc.record({ kind: fc.constantFrom('retry', 'sent', 'sent', 'giveBack'), which: fc.nat(5), agoMs, more }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('reserve' as const), cost, notBeforeMs: fc.constantFrom(0, 40, 900) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pause' as const), forMs: fc.constantFrom(0, 30, 700) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('resume', 'view', 'adopt') }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('learn' as const),
      gapMs: fc.constantFrom(0, 35, 410.5),
      remaining: fc.nat(9),
      resetInMs: fc.constantFrom(-5, 300, 4000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('spent' as const), agoMs, cost }) },
) as fc.Arbitrary<Move>

const anyAct: fc.Arbitrary<Act> = fc.record({
  worker: fc.nat(2),
  policy: fc.constantFrom(0, 0, 0, 1),
  advanceMs: fc.constantFrom(0, 0, 1, 13.37, 100, 250, 999.5, 2600, 40_000),
  inFlight: fc.nat(2),
  steps: fc.array(anyMove, { minLength: 1, maxLength: 4 }),
  forgets: fc.boolean(),
  memory: fc.option(
    fc.record({ credits: fc.option(fc.array(fc.nat(9), { minLength: 6, maxLength: 6 }), { nil: undefined }) }),
    {
      freq: 8,
    },
  ),
})

/** The first worker looks at a state. */
function touch(policy: number): Act {
  return { worker: 0, policy, advanceMs: 0, inFlight: 0, steps: [{ kind: 'view' }], forgets: false, memory: null }
}

/** What two ledgers are asked alike. Slots are picked among the names that were given before. */
class Script {
  readonly #names: string[][] = [[], [], []]
  #count = 0

  steps(act: Act, from: Limits): Step[] {
    return act.steps.map((move) => this.#step(move, act.worker, from))
  }

  #step(move: Move, worker: number, from: Limits): Step {
    switch (move.kind) {
      case 'leave':
        return { ...move, slot: this.#name(worker) }
      case 'reserve':
        return { ...move, order: Number.POSITIVE_INFINITY, slot: this.#name(worker) }
      case 'retry':
        return {
          kind: 'retry',
          slot: this.#known(worker, move.which),
          cost: 1,
          order: Number.POSITIVE_INFINITY,
          more: move.more,
        }
      case 'sent':
        return { kind: 'sent', slot: this.#known(worker, move.which), cost: 1, agoMs: move.agoMs }
      case 'giveBack':
        return { kind: 'giveBack', slot: this.#known(worker, move.which) }
      case 'spent':
        return { kind: 'spent', departures: [{ agoMs: move.agoMs, cost: move.cost }] }
      case 'adopt':
        return { kind: 'adopt', from }
      case 'learn': {
        const { gapMs, remaining, resetInMs } = move
        const published = [
          { remaining, resetAtMs: resetInMs, limit: 9, windowMs: 1000, departedAtMs: -10 },
          { remaining: 2 * remaining, resetAtMs: 3 * resetInMs, departedAtMs: -10 },
        ]
        return { kind: 'learn', learned: { gap: { gapMs, learnedAtMs: 0, reason: 'a test' }, published } }
      }
      case 'pause':
        return move
      default:
        return { kind: move.kind }
    }
  }

  #name(worker: number): string {
    const name = `${worker}.${++this.#count}`
    this.#names[worker]?.push(name)
    return name
  }

  #known(worker: number, which: number): string {
    const names = this.#names[worker] ?? []
    return names[names.length - 1 - which] ?? `${worker}.unknown`
  }
}

describe.skipIf(!serverIsThere)('the script', () => {
  let server: Pick<RedisServer, 'url' | 'close'>
  let client: Redis

  beforeAll(async () => {
    server = await openServer()
    client = new Redis(server.url)
  })

  afterAll(async () => {
    client.disconnect()
    await server.close()
  })

  test('answers to any history as the ledger in core does, to the last bit', async () => {
    const prefix = `${Math.random()}:`
    let run = 0
    const anyLimits = fc.record({ policy: anyPolicy, concurrency: fc.option(fc.integer({ min: 1, max: 3 })) })
    await fc.assert(
      fc.asyncProperty(fc.tuple(anyLimits, anyLimits), fc.array(anyAct, { maxLength: 25 }), async (pair, acts) => {
        const clock = new ManualClock({ nowMs: 1_700_000_000_000.125 })
        const limits = pair.map(({ policy, concurrency }) =>
          limitsOf({ ...policy, ...(concurrency && { concurrency }) }),
        )
        const core = new MemoryLedger(clock)
        const redis = new RedisLedger(scriptRunnerOf(client), `${prefix}${++run}:`, () => clock.now())
        const script = new Script()
        for (const act of [touch(0), touch(1), ...acts]) {
          clock.advance(act.advanceMs)
          const own = limits[act.policy] as Limits
          const call: LedgerCall = {
            key: 'https://a.example',
            limits: own,
            worker: `worker ${act.worker}`,
            // As long as one worker lives, a state is kept, as that of core is.
            leaseMs: act.worker === 0 ? 1e9 : 30_000,
            horizonMs: 100,
            inFlight: act.inFlight,
            seq: act.memory === null ? 0 : 1000,
            credits: act.memory?.credits,
            learnedVersion: 0,
            keep: act.forgets ? [] : undefined,
            steps: script.steps(act, limits[1 - act.policy] as Limits),
          }
          const expected = core.decide(call)
          expect(plain(await redis.decide(call))).toEqual(plain(expected))
        }
      }),
      { numRuns: 1000 },
    )
  }, 120_000)

  test('a log of many departures is read page by page, and kept as short as it can be', async () => {
    const clock = new ManualClock({ nowMs: 1_700_000_000_000 })
    const limits = limitsOf({ quotas: [{ limit: 300, windowMs: 10_000 }] })
    const prefix = `${Math.random()}:`
    const core = new MemoryLedger(clock)
    const redis = new RedisLedger(scriptRunnerOf(client), prefix, () => clock.now())
    const call = { key: 'https://a.example', limits, worker: 'a', leaseMs: 1e9, horizonMs: 100, inFlight: 0 }
    for (let count = 0; count < 1200; count++) {
      const slot = `a.${count}`
      const steps: Step[] = [
        { kind: 'leave', slot, cost: 1 + (count % 2), order: count, more: 0 },
        count % 7 === 0 ? { kind: 'giveBack', slot } : { kind: 'sent', slot, cost: 1 + (count % 2), agoMs: 0 },
        ...(count % 50 === 0 ? [{ kind: 'view' } as const] : []),
      ]
      const asked = { ...call, seq: 0, learnedVersion: 0, steps }
      const expected = core.decide(asked)
      expect(plain(await redis.decide(asked))).toEqual(plain(expected))
      clock.advance(count % 100 === 99 ? 4000 : (count * 7.3) % 29)
    }
    const [list] = await client.keys(`${prefix}*:0`)
    expect(await client.llen(list as string)).toBeLessThan(300)
  })
})

/** A ledger may number versions as it likes: they say only whether something has changed. */
function plain(reply: LedgerReply): unknown {
  const json = JSON.stringify(reply, (name, value) => {
    if (name === 'pauseVersion' || name === 'learnedVersion') return undefined
    return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
  })
  return JSON.parse(json)
}
