import assert from 'node:assert/strict'
import { type StoreScenario, storeScenario } from './store-scenario.ts'

const burst = { rate: '10r/s', capacity: 10 }
const pair = { rate: 1000, concurrency: 2 }

/** Pauses, and how many may be in flight. */
export const holdScenarios: readonly StoreScenario[] = [
  storeScenario('a pause holds for all; the longest of several wins', burst, async ({ one, other, advance }) => {
    one.pause(5000)
    other.pause(1000)
    const slot = await other.promised(5000)
    assert.equal(slot.layer, 'pause')
    await advance(2000)
    const { pausedMs, forecast } = await one.view()
    forecast.end()
    assert.equal(pausedMs, 3000)
    const again = await other.retry(slot)
    assert.equal(again.kind === 'promised' && again.waitMs, 3000)
  }),

  storeScenario('after a pause the host restarts with one', burst, async ({ one, other, advance }) => {
    one.pause(5000)
    await advance(5000)
    await other.go()
    await one.promised(100)
  }),

  storeScenario(
    'a pause that is ended is over for all, and the host restarts with one',
    burst,
    async ({ one, other }) => {
      one.pause(5000)
      other.resume()
      await one.go()
      await other.promised(100)
    },
  ),

  storeScenario('to end a pause where there is none changes nothing', burst, async ({ one }) => {
    one.resume()
    await one.go({ cost: 10 })
  }),

  storeScenario('a pause of another policy stays', burst, async ({ one }) => {
    one.pause(5000)
    one.adopt({ intervalMs: 10 })
    await one.promised(5000)
  }),

  storeScenario('a host that is paused is not forgotten', burst, async ({ one, nowMs, advance }) => {
    one.pause(60_000)
    await one.waitMs()
    await advance(30_000)
    one.store.hosts.sweep(nowMs())
    assert.equal(one.store.hosts.size, 1)
  }),

  storeScenario('no more are in flight than may be, whoever sends them', pair, async ({ one, other, advance }) => {
    await one.go()
    await advance(1)
    await other.go()
    await advance(1)
    assert.equal((await one.leave()).kind, 'full')
    assert.equal((await other.leave()).kind, 'full')
    const { inFlight, forecast } = await one.view()
    forecast.end()
    assert.equal(inFlight, 2)
    other.finish()
    await one.go()
    await advance(1)
    assert.equal((await other.leave()).kind, 'full')
  }),

  storeScenario('one that finds it full takes no credit', { intervalMs: 1000, concurrency: 1 }, async (setting) => {
    const { one, other, advance } = setting
    await one.go()
    const slot = await other.promised(1000)
    await advance(1000)
    assert.equal((await other.retry(slot)).kind, 'full')
    one.finish()
    await other.go()
  }),

  storeScenario('a policy that bounds those in flight counts those that are there', burst, async ({ one, advance }) => {
    await one.go()
    await one.go()
    one.adopt({ ...burst, concurrency: 2 }, 2)
    assert.equal((await one.leave()).kind, 'full')
    one.finish()
    await one.go()
    one.adopt(burst, 2)
    await one.go()
    await advance(1000)
    one.adopt({ ...burst, concurrency: 2 }, 1)
    await one.go()
    assert.equal((await one.leave()).kind, 'full')
  }),

  storeScenario('a host with requests in flight is not forgotten where they are bound', pair, async (setting) => {
    const { one, nowMs, advance } = setting
    await one.go()
    await advance(60_000)
    one.store.hosts.sweep(nowMs())
    assert.equal(one.store.hosts.size, 1)
    one.finish()
    await one.waitMs()
    one.store.hosts.sweep(nowMs())
    assert.equal(one.store.hosts.size, 0)
  }),
]
