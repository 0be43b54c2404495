import { memoryStore } from '@hostpace/core'
import { ManualClock, type StoreDriver, storeScenarios } from '@hostpace/core/testing'
import { describe, test } from 'vitest'
import { asyncStore } from '../support/async-store.ts'

describe.each([
  { name: 'memory store', make: memoryStore },
  { name: 'memory store that answers later', make: asyncStore },
])('$name', ({ make }) => {
  const driver: StoreDriver = {
    open() {
      const clock = new ManualClock()
      const store = make()
      return {
        stores: [store, store],
        nowMs: () => clock.now(),
        advance: (ms) => clock.advanceAsync(ms),
        close: () => store.close(),
      }
    },
  }
  for (const { name, run } of storeScenarios) test(name, () => run(driver))
})
