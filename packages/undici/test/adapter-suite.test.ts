import { adapterScenarios } from '@hostpace/core/testing'
import { fetch } from 'undici'
import { describe, test } from 'vitest'
import { composeByHand, fetchDriver, requestDriver } from './driver.ts'

const drivers = [
  requestDriver,
  fetchDriver('undici fetch', fetch as unknown as typeof globalThis.fetch),
  fetchDriver('built-in fetch', globalThis.fetch),
  fetchDriver('built-in fetch, handlers as they are', globalThis.fetch, composeByHand),
]

describe.each(drivers)('$name', (driver) => {
  for (const { name, needs, run } of adapterScenarios) {
    test.skipIf(needs?.some((need) => driver.lacks?.has(need)))(name, () => run(driver))
  }
})
