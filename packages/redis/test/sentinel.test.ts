import { setTimeout as sleep } from 'node:timers/promises'
import { createPacer } from '@hostpace/core'
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis-5'
import { Redis as Valkey } from 'iovalkey'
import { createSentinel } from 'redis'
import { createSentinel as createSentinel5 } from 'redis-5'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type RedisClient, redisStore } from '../src/index.ts'
import { episodesOf, host, mostIn, send, shortestGap } from './pacing.ts'
import { hasRedisServer } from './redis-server.ts'
import { masterName as name, startWatchedRedis, type WatchedRedis } from './sentinel.ts'

/** The quota is never reached: it is what tells how many have left. */
const limit = 100_000
const policy = { intervalMs: 50, quotas: [{ limit, windowMs: 3_600_000 }], adapt: false }
/** What two workers may send in a second, each of which has one at the edge. */
const perSecond = 1000 / policy.intervalMs + 2
/** The same where one of them has found the new master, and the other goes by its share, a half, until it does. */
const perSecondApart = perSecond + 1000 / policy.intervalMs / 2
/** Clocks of two processes are compared by messages that take their time. */
const fuzzMs = 5
/** So long that a machine with much else to do makes no episode of its own. */
const timeoutMs = 1000
/** Far more than the time-out, or than what was sent by shares takes to be made up for, and less than clients take to be back. */
const hangMs = 2500

interface Opened {
  readonly client: RedisClient
  close(): unknown
}

const clients: readonly { name: string; open(sentinels: WatchedRedis['sentinels']): Promise<Opened> }[] = [
  { name: 'ioredis 6', open: (sentinels) => ready(new Redis({ sentinels, name })) },
  { name: 'ioredis 5', open: (sentinels) => ready(new Redis5({ sentinels, name })) },
  { name: 'iovalkey', open: (sentinels) => ready(new Valkey({ sentinels, name })) },
  { name: 'node-redis 6', open: (sentinelRootNodes) => connected(createSentinel({ name, sentinelRootNodes })) },
  { name: 'node-redis 5', open: (sentinelRootNodes) => connected(createSentinel5({ name, sentinelRootNodes })) },
]

const open: (() => unknown)[] = []

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

describe.skipIf(!hasRedisServer)('with Sentinels', () => {
  let watched: WatchedRedis

  beforeAll(async () => {
    watched = await startWatchedRedis()
  }, 30_000)

  afterAll(async () => {
    await watched?.close()
  })

  test.each(clients)('$name shares the credit with a client of the master', async (opening) => {
    const { client, close } = await opening.open(watched.sentinels)
    open.push(close)
    const plain = new Redis(watched.master.url)
    open.push(() => plain.disconnect())
    const options = { ...policy, quotas: [{ limit: 10, windowMs: 3_600_000 }] }
    const pacers = [client, plain].map((of) =>
      createPacer({ ...options, store: redisStore({ client: of, prefix: `${opening.name}, shared:`, timeoutMs }) }),
    )
    const episodes = pacers.map(episodesOf)
    const times = (await Promise.all(pacers.map((pacer) => send(pacer, 5)))).flat()
    expect(shortestGap(times)).toBeGreaterThan(policy.intervalMs - fuzzMs)
    for (const pacer of pacers) expect((await pacer.peek(host)).waitMs).toBeGreaterThan(3_000_000)
    expect(episodes.map(({ count }) => count)).toEqual([0, 0])
    for (const pacer of pacers) await pacer.close()
  })

  test('a master that is killed has a successor, and the pace goes on', async () => {
    await paceThrough(watched, () => watched.master.kill())
  }, 60_000)
})

/** Two processes' worth of one client. */
interface Pair {
  readonly prefix: string
  /** When those of each left. */
  readonly times: readonly number[][]
  /** How often the store of each has failed. */
  readonly episodes: readonly { count: number }[]
  stop(): Promise<unknown>
}

/** Has two workers with each client send as fast as they may while the master changes, and judges what has left. */
async function paceThrough({ sentinels, replica, isFailedOver }: WatchedRedis, change: () => Promise<void>) {
  const pairs = await Promise.all(
    clients.map(async ({ name, open }) => startPair(`${name}:`, [await open(sentinels), await open(sentinels)])),
  )
  await until(() => pairs.every(({ times }) => times.every(({ length }) => length >= 10)), 'all send')
  await change()
  await until(isFailedOver, 'the replica is the master')
  const failedOverAtMs = performance.now()
  const newMaster = new Redis(replica.url)
  open.push(() => newMaster.disconnect())
  for (const { prefix, times } of pairs) {
    const sent = times.flat().length
    await until(async () => (await usedOf(newMaster, prefix)) >= sent, `${prefix} what was sent is known`)
    await until(() => isShared(times), `${prefix} the pace is shared`)
  }
  await Promise.all(pairs.map(({ stop }) => stop()))

  for (const { prefix, times, episodes } of pairs) {
    const all = times.flat()
    const before = all.filter((atMs) => atMs < failedOverAtMs)
    expect(mostIn(1000, before), prefix).toBeLessThanOrEqual(perSecond)
    expect(mostIn(1000, all), prefix).toBeLessThanOrEqual(perSecondApart)
    expect(Math.max(...times.map(longestGap)), prefix).toBeLessThan(hangMs)
    for (const { count } of episodes) expect(count, prefix).toBeLessThanOrEqual(1)
  }
}

function startPair(prefix: string, opened: readonly Opened[]): Pair {
  let isOver = false
  const times: number[][] = []
  const workers = opened.map(({ client, close }, index) => {
    const pacer = createPacer({ ...policy, store: redisStore({ client, prefix, timeoutMs }) })
    open.push(close, () => pacer.close())
    const own: number[] = []
    times[index] = own
    const sending = (async () => {
      while (!isOver) own.push(...(await send(pacer, 1)))
    })()
    // Where the test has failed, nobody waits for it.
    sending.catch(() => {})
    return { episodes: episodesOf(pacer), sending }
  })
  return {
    prefix,
    times,
    episodes: workers.map(({ episodes }) => episodes),
    stop() {
      isOver = true
      return Promise.all(workers.map(({ sending }) => sending))
    },
  }
}

/** Whether for the last second and a half each has kept away from those of the other, which no share makes it do. */
function isShared(times: readonly number[][]): boolean {
  const latest = times
    .flat()
    .sort((a, b) => a - b)
    .slice(-30)
  return (
    times.every((own) => own.some((atMs) => latest.includes(atMs))) && shortestGap(latest) > policy.intervalMs - fuzzMs
  )
}

/** How many have left, by what the server says. */
async function usedOf(client: Redis, prefix: string): Promise<number> {
  const pacer = createPacer({ ...policy, store: redisStore({ client, prefix }) })
  const { layers } = await pacer.explain(host)
  await pacer.close()
  return limit - (layers.find(({ layer }) => layer === 'quota')?.credit ?? limit)
}

function longestGap(times: readonly number[]): number {
  return Math.max(...times.slice(1).map((time, index) => time - (times[index] as number)))
}

async function connected(
  client: ReturnType<typeof createSentinel> | ReturnType<typeof createSentinel5>,
): Promise<Opened> {
  client.on('error', () => {})
  await client.connect()
  return { client, close: () => client.destroy() }
}

async function ready(client: Redis | Redis5 | Valkey): Promise<Opened> {
  client.on('error', () => {})
  await client.ping()
  return { client, close: () => client.disconnect() }
}

async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    if (await isSo()) return
    await sleep(25)
  }
  throw new Error(`it has not come to that: ${what}`)
}
