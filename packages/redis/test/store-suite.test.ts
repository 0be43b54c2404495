import { memoryStore } from '@hostpace/core'
import { ManualClock, playStoreHistory, type StoreDriver, storeHistory, storeScenarios } from '@hostpace/core/testing'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openServer, type RedisServer, serverIsThere } from './redis-server.ts'
import { manualDriver, suitePrefix } from './shared-clock.ts'

const memory: StoreDriver = {
  open() {
    const clock = new ManualClock()
    const store = memoryStore()
    return {
      stores: [store, store],
      nowMs: () => clock.now(),
      advance: (ms) => clock.advanceAsync(ms),
      close: () => store.close(),
    }
  },
}

describe.skipIf(!serverIsThere)('the redis store', () => {
  let server: Pick<RedisServer, 'url' | 'close'>
  let client: Redis
  const driver = manualDriver(() => client)

  beforeAll(async () => {
    server = await openServer()
    client = new Redis(server.url)
  })

  afterAll(async () => {
    client.disconnect()
    await server.close()
  })

  for (const { name, run } of storeScenarios) test(name, () => run(driver))

  test('says what the memory store says, whatever two do to it', async () => {
    for (let seed = 1; seed <= 150; seed++) {
      const history = storeHistory(seed)
      const said = await playStoreHistory(history, driver)
      expect(said, `history ${seed}`).toEqual(await playStoreHistory(history, memory))
    }
  }, 60_000)

  test('leaves no key behind that does not expire', async () => {
    const keys = await client.keys(`${suitePrefix}*`)
    expect(keys.length).toBeGreaterThan(0)
    for (const key of keys) expect(await client.pttl(key), key).not.toBe(-1)
  })
})
