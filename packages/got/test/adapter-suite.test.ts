import { adapterScenariosOver } from '@hostpace/core/testing'
import { describe, test } from 'vitest'
import { gotDriver } from './driver.ts'

describe(gotDriver.name, () => {
  describe.each(gotDriver.transports)('over %s', (transport) => {
    for (const { name, suits, run } of adapterScenariosOver(transport)) {
      test.runIf(suits(gotDriver, transport))(name, () => run(gotDriver, transport))
    }
  })
})
