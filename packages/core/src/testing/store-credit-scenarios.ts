import assert from 'node:assert/strict'
import type { Policy } from '../policy.ts'
import { type StoreScenario, storeScenario } from './store-scenario.ts'

const layered: Policy = { intervalMs: 2000, rate: '10r/s', quotas: [{ limit: 3, windowMs: 10_000 }] }

/** When the first requests leave under a policy, whoever of two sends them. */
const departures: readonly [name: string, policy: Policy, timesMs: readonly number[]][] = [
  ['an interval', { intervalMs: 2000 }, [0, 2000, 4000, 6000]],
  ['a bucket', { rate: 1, capacity: 5, justification: 'a test' }, [0, 0, 0, 0, 0, 1000, 2000, 3000]],
  ['an exact quota', { quotas: [{ limit: 3, windowMs: 1000 }] }, [0, 0, 0, 1000, 1000, 1000, 2000]],
  ['a counted quota', { quotas: [{ limit: 2, windowMs: 1000, window: 'counter' }] }, [0, 0, 1500, 2000, 3000]],
  ['a quota of fixed windows', { quotas: [{ limit: 2, windowMs: 1000, window: 'fixed' }] }, [0, 0, 1000, 1000, 2000]],
  ['nothing declared', {}, [0, 1000, 2000]],
  ['several layers', layered, [0, 2000, 4000, 10_000, 12_000, 14_000, 20_000]],
]

/** What has been used is exact, for all who share the store. */
export const creditScenarios: readonly StoreScenario[] = [
  ...departures.map(([name, policy, timesMs]) =>
    storeScenario(`${name}: requests of two callers leave as those of one`, policy, async (setting) => {
      const { one, other, nowMs, advance } = setting
      const startMs = nowMs()
      const times: number[] = []
      for (const index of timesMs.keys()) {
        const caller = index % 2 === 0 ? one : other
        let leave = await caller.leave()
        while (leave.kind === 'promised') {
          await advance(leave.waitMs)
          leave = await caller.retry(leave.slot)
        }
        assert.equal(leave.kind, 'gone')
        times.push(nowMs() - startMs)
      }
      assert.deepEqual(times, timesMs)
    }),
  ),

  storeScenario('cost counts in every layer', layered, async ({ one, other }) => {
    await one.go({ cost: 2 })
    assert.equal(await other.waitMs(1), 4000)
    assert.equal(await other.waitMs(2), 10_000)
  }),

  storeScenario('the wait is explained by the layer that asks for it', layered, async ({ one, advance }) => {
    await one.go()
    const slot = await one.promised(2000)
    assert.equal(slot.layer, 'interval')
    await advance(2000)
    await one.retry(slot)
    await advance(2000)
    await one.go()
    assert.equal((await one.promised(6000)).layer, 'quota')
  }),

  storeScenario('hosts have credit of their own', { intervalMs: 1000 }, async ({ one, caller }) => {
    await one.go()
    await caller({ key: 'https://b.example' }).go()
    await one.promised(1000)
  }),

  storeScenario('a clock that goes back earns nothing', { rate: 1, capacity: 2 }, async ({ one, caller, advance }) => {
    await one.go({ cost: 2 })
    await advance(500)
    assert.equal(await one.waitMs(), 500)
    const late = caller({ offMs: -8 * 3_600_000 })
    assert.equal(await late.waitMs(), 500)
    assert.equal((await late.leave()).kind, 'promised')
    assert.equal(await one.waitMs(), 1500)
  }),

  storeScenario('a view shows the credit and takes nothing', layered, async ({ one, other }) => {
    await one.go()
    for (let look = 0; look < 3; look++) {
      const { credits, pausedMs, inFlight, forecast, nowMs } = await other.view()
      assert.deepEqual([credits, pausedMs, inFlight], [[0, 9, 2], 0, 0])
      assert.deepEqual(
        [forecast.next(1) - nowMs, forecast.next(1) - nowMs, forecast.next(1) - nowMs],
        [2000, 4000, 10_000],
      )
      forecast.end()
    }
    await other.promised(2000)
  }),

  storeScenario('a host is forgotten once it has recovered and not before', layered, async ({ one, advance }) => {
    const { hosts } = one.store
    await one.go()
    await advance(9999)
    hosts.sweep(await now(one))
    assert.equal(hosts.size, 1)
    await advance(1)
    hosts.sweep(await now(one))
    assert.equal(hosts.size, 0)
  }),

  storeScenario('another policy takes over what has been used', layered, async ({ one, advance }) => {
    await one.go()
    await advance(1000)
    one.adopt({ ...layered, intervalMs: 5000, quotas: [{ limit: 2, windowMs: 10_000 }] })
    const slot = await one.promised(4000)
    await advance(4000)
    assert.equal((await one.retry(slot)).kind, 'gone')
    assert.equal(await one.waitMs(), 5000)
    one.adopt({ rate: '10r/s' })
    assert.equal(await one.waitMs(), 0)
  }),
]

/** The store's time, which a sweep goes by. */
async function now(caller: { view(): Promise<{ nowMs: number; forecast: { end(): void } }> }): Promise<number> {
  const { nowMs, forecast } = await caller.view()
  forecast.end()
  return nowMs
}
