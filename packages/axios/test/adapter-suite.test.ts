import { adapterScenarios } from '@hostpace/core/testing'
import { describe, test } from 'vitest'
import { axiosDriver } from './driver.ts'

describe.each([axiosDriver('http'), axiosDriver('fetch')])('$name', (driver) => {
  for (const { name, needs, run } of adapterScenarios) {
    test.skipIf(needs?.some((need) => driver.lacks?.has(need)))(name, () => run(driver))
  }
})
