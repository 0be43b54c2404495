import { adapterScenarios } from '@hostpace/core/testing'
import { describe, test } from 'vitest'
import { axiosDriver } from './driver.ts'

describe.each([axiosDriver('http'), axiosDriver('fetch')])('$name', (driver) => {
  for (const { name, needs, run } of adapterScenarios) {
    const lacking = [needs ?? []].flat().some((need) => driver.lacks?.has(need))
    test.skipIf(lacking)(name, () => run(driver))
  }
})
