import { adapterScenarios } from '@hostpace/core/testing'
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

/** Dispatchers of undici 8 take no handlers of the older kind, as a fetch built of an older undici has. */
function servesBuiltInFetch(): boolean {
  if (Number.parseInt(process.versions.undici ?? '', 10) >= 8) return true
  const agent = new Agent()
  try {
    const ignore = () => true
    const handler = { onConnect: (abort: () => void) => abort(), onHeaders: ignore, onData: ignore }
    agent.dispatch({ origin: 'http://127.0.0.1:9', path: '/', method: 'GET' }, {
      ...handler,
      onComplete: ignore,
      onError: ignore,
    } as never)
    return true
  } catch {
    return false
  } finally {
    void agent.destroy()
  }
}

describe.each(drivers)('$name', (driver) => {
  for (const { name, needs, run } of adapterScenarios) {
    test.skipIf(needs?.some((need) => driver.lacks?.has(need)))(name, () => run(driver))
  }
})
