import { createPacer, type Pacer } from '@hostpace/core'
import { createCluster } from 'redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RedisClient, redisStore } from '../src/index.ts'
import { clusterClient, type RedisCluster, startRedisCluster } from './cluster.ts'
import { episodesOf, host, send, shortestGap } from './pacing.ts'
import { hasRedisServer } from './redis-server.ts'

const layered = {
  rate: '50r/s',
  quotas: [
    { limit: 8, windowMs: 3_600_000 },
    { limit: 9, windowMs: 7_200_000 },
  ],
  adapt: false,
}

describe.skipIf(!hasRedisServer)('on a cluster of three', () => {
  let cluster: RedisCluster
  const clients: { name: string; client: RedisClient; close(): unknown }[] = []

  beforeAll(async () => {
    cluster = await startRedisCluster()
    const io = clusterClient(cluster)
    const node = createCluster({ rootNodes: cluster.ports.map((port) => ({ url: `redis://127.0.0.1:${port}` })) })
    node.on('error', () => {})
    await node.connect()
    clients.push({ name: 'ioredis', client: io, close: () => io.disconnect() })
    clients.push({ name: 'node-redis', client: node as RedisClient, close: () => node.destroy() })
  }, 30_000)

  afterAll(async () => {
    for (const { close } of clients) await close()
    await cluster?.close()
  })

  test('two clients share the layers of a host, and hosts spread (D08)', async () => {
    const pacers = clients.map(({ client }) =>
      createPacer({ ...layered, store: redisStore({ client, prefix: 'd08:' }) }),
    )
    const episodes = pacers.map(episodesOf)
    const urls = Array.from({ length: 12 }, (_, index) => `https://h${index}.example`)
    for (const url of urls) for (const pacer of pacers) await send(pacer, 4, url)
    for (const url of urls)
      for (const pacer of pacers) expect((await pacer.peek(url)).waitMs).toBeGreaterThan(3_000_000)
    expect(episodes.map(({ count }) => count)).toEqual([0, 0])
    const keys = (await cluster.keys()).filter((key) => key.startsWith('d08:'))
    for (const url of urls) expect(keys.filter((key) => key.startsWith(`d08:{${url}}:`)).length).toBe(3)
    await Promise.all(pacers.map((pacer) => pacer.close()))
  })

  test('what is asked of many hosts at once goes to each at its node', async () => {
    for (const { client, name } of clients) {
      const pacer = createPacer({ ...layered, store: redisStore({ client, prefix: `many-${name}:` }) })
      const episodes = episodesOf(pacer)
      const urls = Array.from({ length: 50 }, (_, index) => `https://m${index}.example`)
      await Promise.all(urls.map((url) => send(pacer, 2, url)))
      for (const url of urls) await expect(creditsOf(pacer, url)).resolves.toEqual([6, 7])
      expect(episodes.count).toBe(0)
      await pacer.close()
    }
  })

  test('keys with braces, and the empty one, are one hash tag', async () => {
    const [{ client } = { client: undefined }] = clients
    for (const key of ['', '{}', 'a{b}c', '}{', '%', '{a', '%7B']) {
      const store = redisStore({ client: client as RedisClient, prefix: 'tags:' })
      const pacer = createPacer({ ...layered, keyBy: () => key || ' ', store })
      const episodes = episodesOf(pacer)
      await send(pacer, 2)
      expect(episodes.count).toBe(0)
      await pacer.close()
    }
  })

  test('when the slot of a host moves to another node, the pace goes on, and nothing is forgotten', async () => {
    const policy = { intervalMs: 20, quotas: [{ limit: 30, windowMs: 3_600_000 }], adapt: false }
    for (const { client, name } of clients) {
      const prefix = `moved-${name}:`
      const pacer = createPacer({ ...policy, store: redisStore({ client, prefix }) })
      const episodes = episodesOf(pacer)
      const times = await send(pacer, 5)
      const [moving] = await Promise.all([send(pacer, 15), cluster.moveSlotOf(`${prefix}{${host}}:host`)])
      times.push(...moving, ...(await send(pacer, 10)))
      expect((await pacer.peek(host)).waitMs).toBeGreaterThan(3_000_000)
      expect(shortestGap(times)).toBeGreaterThan(15)
      expect(episodes.count).toBeLessThanOrEqual(1)
      await pacer.close()
    }
  })
})

/** What is left of the quotas. */
async function creditsOf(pacer: Pacer, url: string): Promise<number[]> {
  const { layers } = await pacer.explain(url)
  return layers.filter(({ layer }) => layer === 'quota').map(({ credit }) => credit)
}
