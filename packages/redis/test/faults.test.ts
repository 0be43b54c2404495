import { createServer, type Server, type Socket } from 'node:net'
import { createPacer, type Pacer } from '@hostpace/core'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterEach, describe, expect, test } from 'vitest'
import { type RedisClient, redisStore } from '../src/index.ts'
import { episodesOf, host, mostIn, send, sendUntil, shortestGap } from './pacing.ts'
import { freePort, hasRedisServer, type RedisServer, startRedisServer } from './redis-server.ts'
import { startSwitch } from './switch.ts'

const interval = { intervalMs: 40, adapt: false }
/** Clocks of two processes are compared by messages that take their time. */
const fuzzMs = 5

const open: (() => unknown)[] = []

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

describe.skipIf(!hasRedisServer)('when the server', () => {
  test('is killed and started again, the pace goes on, and is shared again by itself', async () => {
    const { server, pacer, watcher } = await setUp()
    const episodes = episodesOf(pacer)
    const times = await send(pacer, 5)
    await server.kill()
    times.push(...(await send(pacer, 8)))
    await server.restart()
    times.push(...(await sendUntil(pacer, () => hasState(watcher))))
    times.push(...(await send(pacer, 5)))
    expect(shortestGap(times)).toBeGreaterThan(40 - fuzzMs)
    expect(episodes.count).toBe(1)
  })

  test('stands still for three seconds, nobody waits longer than the time-out', async () => {
    const { server, pacer, watcher } = await setUp()
    const episodes = episodesOf(pacer)
    const times = await send(pacer, 5)
    process.kill(server.pid, 'SIGSTOP')
    const stoppedAtMs = performance.now()
    times.push(...(await sendUntil(pacer, () => performance.now() > stoppedAtMs + 3000)))
    process.kill(server.pid, 'SIGCONT')
    const seen = await callsOf(watcher)
    times.push(...(await sendUntil(pacer, async () => (await callsOf(watcher)) > seen + 20)))
    expect(episodes.count).toBe(1)
    expect(times.length).toBeGreaterThan(10)
    expect(shortestGap(times)).toBeGreaterThan(40 - fuzzMs)
  })

  test('has lost all it knew, what was used stays used', async () => {
    const { pacer, watcher } = await setUp({ quotas: [{ limit: 5, windowMs: 60_000 }], rate: '100r/s', adapt: false })
    const episodes = episodesOf(pacer)
    await send(pacer, 4)
    await settled(pacer)
    await watcher.flushall()
    await send(pacer, 1)
    expect((await pacer.peek(host)).waitMs).toBeGreaterThan(50_000)
    expect(episodes.count).toBe(0)
  })

  test('has lost one of its keys, it heals', async () => {
    const { pacer, watcher } = await setUp({ quotas: [{ limit: 5, windowMs: 60_000 }], rate: '100r/s', adapt: false })
    await send(pacer, 4)
    await settled(pacer)
    for (const key of await watcher.keys('hostpace:*:0')) await watcher.del(key)
    await send(pacer, 1)
    expect((await pacer.peek(host)).waitMs).toBeGreaterThan(50_000)
  })

  test('has a key at its limit that does not expire, it does after the next look (D01)', async () => {
    const { pacer, watcher } = await setUp({ quotas: [{ limit: 3, windowMs: 60_000 }], rate: '100r/s', adapt: false })
    await send(pacer, 3)
    await settled(pacer)
    for (const key of await watcher.keys('*')) await watcher.persist(key)
    expect((await pacer.peek(host)).waitMs).toBeLessThanOrEqual(60_000)
    const state = (await watcher.keys('hostpace:*')).find((key) => !/:0$|:host$/.test(key)) as string
    expect(await watcher.pttl(state)).toBeGreaterThan(0)
    expect(await watcher.pttl(state)).toBeLessThanOrEqual(60_000)
  })

  test('is out of memory, the pace goes on', async () => {
    const { pacer, watcher } = await setUp()
    const episodes = episodesOf(pacer)
    const times = await send(pacer, 3)
    await watcher.config('SET', 'maxmemory-policy', 'noeviction')
    await watcher.config('SET', 'maxmemory', '1')
    times.push(...(await send(pacer, 8)))
    await watcher.config('SET', 'maxmemory', '0')
    const seen = await callsOf(watcher)
    times.push(...(await sendUntil(pacer, async () => (await callsOf(watcher)) > seen + 20)))
    expect(episodes.count).toBe(1)
    expect(shortestGap(times)).toBeGreaterThan(40 - fuzzMs)
  })

  test('accepts connections and stays silent, the pace is that of a part of the limits (D10)', async () => {
    const silent = await startSilence()
    const client = new Redis(silent.port, '127.0.0.1')
    open.push(() => client.disconnect())
    const pacer = createPacer({ rate: '10r/s', adapt: false, store: redisStore({ client, timeoutMs: 500 }) })
    open.push(() => pacer.close())
    const episodes = episodesOf(pacer)
    const times: number[] = []
    const all = Array.from({ length: 1000 }, () =>
      send(pacer, 1).then(
        (sent) => times.push(...sent),
        () => {},
      ),
    )
    const startedAtMs = performance.now()
    while (performance.now() < startedAtMs + 2500) await new Promise((resolve) => setTimeout(resolve, 50))
    await pacer.close()
    await Promise.all(all)
    expect(times.length).toBeGreaterThan(0)
    expect(mostIn(1000, times)).toBeLessThanOrEqual(10)
    expect(episodes.count).toBe(1)
  })

  test.each([
    {
      name: 'ioredis',
      connect: async (url: string): Promise<RedisClient & { disconnect(): unknown }> => new Redis(url),
    },
    {
      name: 'node-redis',
      async connect(url: string): Promise<RedisClient & { disconnect(): unknown }> {
        const client = createClient({ url })
        client.on('error', () => {})
        await client.connect()
        return client as unknown as RedisClient & { disconnect(): unknown }
      },
    },
  ])('has become a replica, $name connects to the new master (D09)', async ({ connect }) => {
    const [former, next] = [await startRedisServer(), await startRedisServer()]
    open.push(former.close, next.close)
    const way = await startSwitch(former.port)
    open.push(way.close)
    const client = await connect(`redis://127.0.0.1:${way.port}`)
    open.push(() => client.disconnect())
    const pacer = createPacer({ ...interval, store: redisStore({ client }) })
    open.push(() => pacer.close())
    const episodes = episodesOf(pacer)
    const times = await send(pacer, 5)
    const [formerMaster, master] = [new Redis(former.url), new Redis(next.url)]
    open.push(
      () => formerMaster.disconnect(),
      () => master.disconnect(),
    )
    await formerMaster.replicaof('127.0.0.1', next.port)
    way.leadTo(next.port)
    times.push(...(await sendUntil(pacer, () => hasState(master))))
    times.push(...(await send(pacer, 5)))
    expect(episodes.count).toBeLessThanOrEqual(1)
    expect(shortestGap(times)).toBeGreaterThan(40 - fuzzMs)
  })
})

interface SetUp {
  readonly server: RedisServer
  readonly pacer: Pacer
  /** A connection of the test's own. */
  readonly watcher: Redis
}

async function setUp(options: Parameters<typeof createPacer>[0] = interval): Promise<SetUp> {
  const server = await startRedisServer()
  open.push(server.close)
  const [client, watcher] = [new Redis(server.url), new Redis(server.url)]
  for (const connection of [client, watcher]) {
    connection.on('error', () => {})
    open.push(() => connection.disconnect())
  }
  const pacer = createPacer({ ...options, store: redisStore({ client }) })
  open.push(() => pacer.close())
  return { server, pacer, watcher }
}

async function hasState(watcher: Redis): Promise<boolean> {
  return (await watcher.keys('hostpace:*')).length > 0
}

/** How often the server has run a script. */
async function callsOf(watcher: Redis): Promise<number> {
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(await watcher.info('commandstats'))?.[1] ?? 0)
}

/** Resolves when the store has been told all: an answer comes after what was told before. */
async function settled(pacer: Pacer): Promise<void> {
  await pacer.peek(host)
}

async function startSilence(): Promise<{ port: number }> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  open.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port }
}
