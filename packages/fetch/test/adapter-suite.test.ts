import { adapterScenariosOver } from '@hostpace/core/testing'
import { fetch as undiciFetch } from 'undici'
import { describe, test } from 'vitest'
import { fetchDriver } from './driver.ts'

/** Its cases B01, B03 and B05 are named by their id. */
describe.each([
  fetchDriver('built-in fetch', globalThis.fetch),
  fetchDriver('undici fetch', undiciFetch as unknown as typeof globalThis.fetch),
])('$name', (driver) => {
  describe.each(driver.transports)('over %s', (transport) => {
    for (const { name, suits, run } of adapterScenariosOver(transport)) {
      test.runIf(suits(driver, transport))(name, () => run(driver, transport))
    }
  })
})
