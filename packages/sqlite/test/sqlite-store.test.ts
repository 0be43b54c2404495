import { memoryStore } from '@hostpace/core'
import { ManualClock, playStoreHistory, type StoreDriver, storeHistory, storeScenarios } from '@hostpace/core/testing'
import { describe, expect, test } from 'vitest'
import { noSqlite, sqliteDriver } from './sqlite-setting.ts'

if (noSqlite !== false) console.log(`SQLite tests skipped: ${noSqlite}`)

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

describe.skipIf(noSqlite !== false)('sqlite store', () => {
  for (const { name, run } of storeScenarios) test(name, () => run(sqliteDriver))

  test('says what the memory store says, whatever two processes do to it', async () => {
    for (let seed = 1; seed <= 100; seed++) {
      const history = storeHistory(seed)
      const said = await playStoreHistory(history, sqliteDriver)
      expect(said, `history ${seed} of ${JSON.stringify(history)}`).toEqual(await playStoreHistory(history, memory))
    }
  }, 60_000)
})
