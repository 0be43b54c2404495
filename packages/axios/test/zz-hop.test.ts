import { describe, test } from 'vitest'
import { hopScenarios } from '../../core/src/testing/adapter-hop-scenarios.ts'
import { axiosDriver } from './driver.ts'
describe.each([axiosDriver('http'), axiosDriver('fetch')])('$name', (driver) => {
  for (const { name, needs, run } of hopScenarios) test.skipIf(needs?.some((need) => driver.lacks?.has(need)))(name, () => run(driver))
})
