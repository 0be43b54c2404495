import { adapterScenariosOver } from '@hostpace/core/testing'
import { Agent, fetch } from 'undici'
import { describe, test } from 'vitest'
import { composeByHand, fetchDriver, requestDriver } from './driver.ts'

const drivers = [
  requestDriver,
  fetchDriver('undici fetch', fetch as unknown as typeof globalThis.fetch),
  ...(servesBuiltInFetch()
    ? [
        fetchDriver('built-in fetch', globalThis.fetch),
        fetchDriver('built-in fetch, handlers as they are', globalThis.fetch, composeByHand),
      ]
    : []),
]

/** A dispatcher takes handlers of the kind that its undici knows, and a fetch has those of the undici it was built of. */
function servesBuiltInFetch(): boolean {
  const isModern = Number.parseInt(process.versions.undici ?? '', 10) >= 8
  const ignore = () => true
  const handler = isModern
    ? {
        onRequestStart: ignore,
        onResponseStart: ignore,
        onResponseData: ignore,
        onResponseEnd: ignore,
        onResponseError: ignore,
      }
    : { onConnect: ignore, onHeaders: ignore, onData: ignore, onComplete: ignore, onError: ignore }
  const agent = new Agent()
  try {
    agent.dispatch({ origin: 'http://127.0.0.1:9', path: '/', method: 'GET' }, handler as never)
    return true
  } catch {
    return false
  } finally {
    void agent.destroy()
  }
}

describe.each(drivers)('$name', (driver) => {
  describe.each(driver.transports)('over %s', (transport) => {
    for (const { name, suits, run } of adapterScenariosOver(transport)) {
      test.runIf(suits(driver, transport))(name, () => run(driver, transport))
    }
  })
})
