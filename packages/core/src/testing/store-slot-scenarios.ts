import assert from 'node:assert/strict'
import type { Slot } from '../slot.ts'
import { type StoreScenario, storeScenario } from './store-scenario.ts'

const second = { intervalMs: 1000 }
const quota = { quotas: [{ limit: 2, windowMs: 1000 }] }

/** What is promised to one is not promised to another, and what is given back is not lost. */
export const slotScenarios: readonly StoreScenario[] = [
  storeScenario('everybody is promised a slot of their own', second, async ({ one, other }) => {
    await one.go()
    await one.promised(1000)
    await other.promised(2000)
    await one.promised(3000)
  }),

  storeScenario(
    'asking again too early gets the same slot, in time it goes',
    second,
    async ({ one, other, advance }) => {
      await one.go()
      let slot = await one.promised(1000)
      await other.promised(2000)
      await advance(999)
      const early = await one.retry(slot)
      assert.deepEqual([early.kind, early.kind === 'promised' && early.waitMs], ['promised', 1])
      slot = (early as typeof early & { kind: 'promised' }).slot
      await advance(1)
      assert.equal((await one.retry(slot)).kind, 'gone')
    },
  ),

  storeScenario('one that comes late is charged when it really departs', second, async ({ one, advance }) => {
    await one.go()
    const slot = await one.promised(1000)
    await advance(1700)
    assert.equal((await one.retry(slot)).kind, 'gone')
    await one.promised(1000)
  }),

  storeScenario('a slot that is given back goes to the next', second, async ({ one, other }) => {
    await one.go()
    const slot = await one.promised(1000)
    await other.promised(2000)
    one.giveBack(slot)
    one.giveBack(slot)
    const next = await other.promised(1000)
    other.giveBack(next)
    await one.promised(1000)
    await one.promised(3000)
  }),

  storeScenario("a reserved slot is nobody else's and is not before its time", second, async ({ one, other }) => {
    assert.equal((await one.reserve(500)).waitMs, 500)
    await other.promised(1500)
    assert.equal((await one.reserve()).waitMs, 2500)
  }),

  storeScenario('a reserved slot that is given back is free', second, async ({ one, other }) => {
    const { slot } = await one.reserve()
    await other.promised(1000)
    one.giveBack(slot)
    one.giveBack(slot)
    await other.go()
  }),

  storeScenario('a reserved slot counts as used when its time is over', quota, async ({ one, other, advance }) => {
    const { slot, waitMs } = await one.reserve()
    assert.equal(waitMs, 0)
    await advance(600)
    one.giveBack(slot)
    await other.go()
    other.giveBack(await other.promised(400))
    await advance(5000)
    one.giveBack(slot)
    assert.equal(await other.waitMs(2), 0)
  }),

  storeScenario(
    'one that will report counts as leaving just now until it does',
    second,
    async ({ one, other, advance }) => {
      const slot = (await one.go({ reportsSent: true })) as Slot
      await advance(5000)
      assert.equal(await other.waitMs(), 1000)
      one.sent(slot)
      assert.equal(await other.waitMs(), 1000)
      await advance(400)
      assert.equal(await other.waitMs(), 600)
    },
  ),

  storeScenario('one that will report and never left gives its place back', quota, async ({ one, other, advance }) => {
    const slot = (await one.go({ reportsSent: true })) as Slot
    await other.go()
    assert.equal(await other.waitMs(), 1000)
    await advance(300)
    one.giveBack(slot)
    assert.equal(await other.waitMs(), 0)
  }),

  storeScenario('sent without a slot moves the interval and nothing else', { ...second, ...quota }, async (setting) => {
    const { one, other, advance } = setting
    await one.go()
    await advance(300)
    one.sent()
    const { credits, forecast } = await other.view()
    forecast.end()
    assert.deepEqual(credits, [0, 1])
    assert.equal(await other.waitMs(), 1000)
  }),

  storeScenario('what is promised stays so under another policy', second, async ({ one, advance }) => {
    const slot = (await one.go({ reportsSent: true })) as Slot
    one.adopt({ intervalMs: 3000 })
    await advance(500)
    assert.equal(await one.waitMs(), 3000)
    one.sent(slot)
    assert.equal(await one.waitMs(), 3000)
    const promise = await one.promised(3000)
    one.adopt({ intervalMs: 2000 })
    const again = await one.retry(promise)
    assert.equal(again.kind === 'promised' && again.waitMs, 2000)
  }),
]
