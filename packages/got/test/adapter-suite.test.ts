import { adapterScenarios } from '@hostpace/core/testing'
import { describe, test } from 'vitest'
import { gotDriver } from './driver.ts'

describe(gotDriver.name, () => {
  for (const { name, needs, run } of adapterScenarios) {
    test.skipIf(needs?.some((need) => gotDriver.lacks?.has(need)))(name, () => run(gotDriver))
  }
})
