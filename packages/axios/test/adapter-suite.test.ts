import { adapterScenariosOver } from '@hostpace/core/testing'
import axios from 'axios'
import { describe, test } from 'vitest'
import { axiosDriver } from './driver.ts'

const drivers = [axiosDriver('http'), ...(hasFetch() ? [axiosDriver('fetch')] : [])]

/** The fetch adapter came with axios 1.7, and its redirects can be seen since 1.12. */
function hasFetch(): boolean {
  const [major = 0, minor = 0] = axios.VERSION.split('.').map(Number)
  return major > 1 || minor >= 12
}

describe.each(drivers)('$name', (driver) => {
  describe.each(driver.transports)('over %s', (transport) => {
    for (const { name, suits, run } of adapterScenariosOver(transport)) {
      test.runIf(suits(driver, transport))(name, () => run(driver, transport))
    }
  })
})
