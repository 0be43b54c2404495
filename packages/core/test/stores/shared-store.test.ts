import { memoryStore } from '@hostpace/core'
import { MemoryLedger, SharedStore } from '@hostpace/core/stores'
import { ManualClock, playStoreHistory, type StoreDriver, storeHistory, storeScenarios } from '@hostpace/core/testing'
import { describe, expect, test } from 'vitest'
import { LateLedger } from '../support/ledgers.ts'

const memory: StoreDriver = {
  open() {
    const clock = new ManualClock()
    const store = memoryStore()
    return {
      stores: [store, store],
      nowMs: () => clock.now(),
      advance: (ms) => clock.advanceAsync(ms),
      close: () => store.close(),
    }
  },
}

describe.each([
  { name: 'a ledger that answers at once', wrap: (ledger: MemoryLedger) => ledger },
  { name: 'a ledger that answers later', wrap: (ledger: MemoryLedger) => new LateLedger(ledger) },
])('shared store on $name', ({ wrap }) => {
  const driver: StoreDriver = {
    open() {
      const clock = new ManualClock()
      const ledger = new MemoryLedger(clock)
      const stores = [new SharedStore(wrap(ledger), { clock }), new SharedStore(wrap(ledger), { clock })] as const
      return {
        stores,
        nowMs: () => clock.now(),
        advance: (ms) => clock.advanceAsync(ms),
        async close() {
          await Promise.all(stores.map((store) => store.close()))
        },
      }
    },
  }
  for (const { name, run } of storeScenarios) test(name, () => run(driver))

  test('says what the memory store says, whatever two do to it', async () => {
    for (let seed = 1; seed <= 300; seed++) {
      const history = storeHistory(seed)
      const said = await playStoreHistory(history, driver)
      expect(said, `history ${seed} of ${JSON.stringify(history)}`).toEqual(await playStoreHistory(history, memory))
    }
  })
})
