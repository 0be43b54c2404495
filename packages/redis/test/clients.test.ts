import { createPacer } from '@hostpace/core'
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis-5'
import { Redis as Valkey } from 'iovalkey'
import { createClient, createClientPool } from 'redis'
import { createClient as createClient5 } from 'redis-5'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type RedisClient, redisStore } from '../src/index.ts'
import { scriptRunnerOf } from '../src/redis-client.ts'
import { openServer, type RedisServer, serverIsThere } from './redis-server.ts'

const host = 'https://a.example'
const quota = { quotas: [{ limit: 10, windowMs: 3_600_000 }] }

interface Opened {
  readonly client: RedisClient
  close(): unknown
}

const clients: readonly { name: string; open(url: string): Opened | Promise<Opened> }[] = [
  { name: 'ioredis 6', open: (url) => opened(new Redis(url)) },
  { name: 'ioredis 5', open: (url) => opened(new Redis5(url)) },
  { name: 'iovalkey', open: (url) => opened(new Valkey(url)) },
  {
    name: 'node-redis 6',
    async open(url) {
      const client = createClient({ url })
      await client.connect()
      return { client, close: () => client.destroy() }
    },
  },
  {
    name: 'node-redis 5',
    async open(url) {
      const client = createClient5({ url })
      await client.connect()
      return { client, close: () => client.destroy() }
    },
  },
  {
    name: 'a pool of node-redis',
    async open(url) {
      const client = createClientPool({ url })
      await client.connect()
      return { client, close: () => client.destroy() }
    },
  },
]

describe.skipIf(!serverIsThere).each(clients)('$name', ({ open }) => {
  let server: Pick<RedisServer, 'url' | 'close'>
  let redis: Opened

  beforeAll(async () => {
    server = await openServer()
    redis = await open(server.url)
  })

  afterAll(async () => {
    await redis?.close()
    await server?.close()
  })

  test('two pacers share what a host may be sent', async () => {
    const prefix = `${Math.random()}:`
    const open = () => createPacer({ ...quota, store: redisStore({ client: redis.client, prefix }) })
    const [one, other] = [open(), open()]
    for (let count = 0; count < 5; count++) {
      ;(await one.wait(host)).done()
      ;(await other.wait(host)).done()
    }
    const { waitMs, layer } = await one.peek(host)
    expect(layer).toBe('quota')
    expect(waitMs).toBeGreaterThan(3_000_000)
    await Promise.all([one.close(), other.close()])
  })

  test('a server that has forgotten the script is sent it once more (D02)', async () => {
    const errors: unknown[] = []
    const pacer = createPacer({ ...quota, store: redisStore({ client: redis.client, prefix: `${Math.random()}:` }) })
    pacer.on('store-error', (event) => errors.push(event))
    ;(await pacer.wait(host)).done()
    const flushing = new Redis(server.url)
    await flushing.script('FLUSH')
    flushing.disconnect()
    ;(await pacer.wait(host)).done()
    const { layers } = await pacer.explain(host)
    expect(layers[0]?.credit).toBe(8)
    expect(errors).toEqual([])
    await pacer.close()
  })
})

describe('a client that is to connect anew', () => {
  test('of Sentinels is opened once it has ended, which may be later', async () => {
    let isOpen = true
    let timesOpened = 0
    const client = {
      evalSha: nothing,
      eval: nothing,
      destroy: async () => {
        await new Promise((resolve) => setImmediate(resolve))
        isOpen = false
      },
      connect: async () => {
        if (isOpen) throw new Error('already attempting to open')
        timesOpened++
      },
    } as unknown as RedisClient
    scriptRunnerOf(client).reconnect()
    await vi.waitFor(() => expect(timesOpened).toBe(1))
  })

  test.each([
    ['ready', 1],
    ['connecting', 0],
  ])('of ioredis that is %s is dropped %i times', (status, times) => {
    const disconnect = vi.fn()
    const client = { evalsha: nothing, eval: nothing, call: nothing, disconnect, status } as unknown as RedisClient
    scriptRunnerOf(client).reconnect()
    expect(disconnect).toHaveBeenCalledTimes(times)
  })
})

describe('what is no client', () => {
  const close = () => {}
  test.each([
    ['nothing', undefined],
    ['a URL', 'redis://127.0.0.1'],
    ['a client of node-redis 3', { evalsha: close, eval: close, send_command: close, quit: close }],
    ['a pipeline of ioredis', { evalsha: close, eval: close, call: close, exec: close }],
  ])('%s is refused by name', (_, client) => {
    expect(() => redisStore({ client: client as unknown as RedisClient })).toThrow(
      expect.objectContaining({ name: 'PolicyError', path: 'options.client' }),
    )
  })

  test.each([['{a}'], ['a{'], [3]])('a prefix of %o is refused by name', (prefix) => {
    const client = { evalSha: close, eval: close, destroy: close, connect: close } as unknown as RedisClient
    expect(() => redisStore({ client, prefix: prefix as string })).toThrow(
      expect.objectContaining({ name: 'PolicyError', path: 'options.prefix' }),
    )
  })

  test('of an option that is unknown the message says which are known', () => {
    expect(() => redisStore({ clients: [] } as never)).toThrow(
      /^options\.clients is unknown; known here are client, prefix, /,
    )
    expect(() => redisStore(null as never)).toThrow(expect.objectContaining({ path: 'options' }))
  })
})

function nothing(): void {}

function opened(client: RedisClient & { disconnect(): void }): Opened {
  return { client, close: () => client.disconnect() }
}
