import { createPacer, type Policy } from '@hostpace/core'
import { redisStore } from '@hostpace/redis'
import Bottleneck from 'bottleneck'
import { Redis } from 'ioredis'
import { RateLimiterRedis } from 'rate-limiter-flexible'

/** A limiter whose credit stands in a Redis, with a client of its own. */
export interface RedisContender {
  readonly name: string
  /** How many of the hosts it is asked for at the most, for one that takes long to begin with a host. */
  readonly hosts?: number
  open(port: number): Promise<OpenContender>
}

export interface OpenContender {
  /** Lets one request to a host go, and ends it. */
  decide(host: number): Promise<void>
  close(): Promise<void>
}

const oneLayer: Policy = { quotas: [{ limit: 1e9, windowMs: 60_000, window: 'fixed' }] }

/** A burst and a quota, each so wide that nobody waits. */
const twoLayers: Policy = { rate: 1e9, capacity: 1e6, quotas: [{ limit: 1e9, windowMs: 60_000, window: 'counter' }] }

/** The same with a gap, which allows no promises ahead. */
const threeLayers: Policy = { ...twoLayers, intervalMs: 1e-6 }

/** What a client and a server can do at all: a script that does nothing. */
const ceiling: RedisContender = {
  name: 'EVALSHA of an empty script',
  async open(port) {
    const client = await connect(port)
    const sha1 = String(await client.script('LOAD', 'return 0'))
    return {
      async decide(host) {
        await client.evalsha(sha1, 1, `empty:{${host}}`)
      },
      close: async () => client.disconnect(),
    }
  },
}

function hostpace(name: string, policy: Policy): RedisContender {
  return {
    name: `hostpace, ${name}`,
    async open(port) {
      const client = await connect(port)
      const pacer = createPacer({ ...policy, store: redisStore({ client, prefix: `${name}:` }) })
      return {
        async decide(host) {
          const permit = await pacer.wait(`http://host-${host}.example/`)
          permit.done()
        },
        async close() {
          await pacer.close()
          client.disconnect()
        },
      }
    },
  }
}

const flexible: RedisContender = {
  name: 'rate-limiter-flexible, one window',
  async open(port) {
    const client = await connect(port)
    const limiter = new RateLimiterRedis({ storeClient: client, points: 1e9, duration: 60 })
    return {
      async decide(host) {
        await limiter.consume(`http://host-${host}.example`)
      },
      close: async () => client.disconnect(),
    }
  },
}

const bottleneck: RedisContender = {
  name: 'bottleneck, clustered',
  hosts: 100,
  async open(port) {
    const connection = new Bottleneck.IORedisConnection({ clientOptions: { host: '127.0.0.1', port }, Redis })
    const group = new Bottleneck.Group({ connection, maxConcurrent: null, minTime: 0, reservoir: 1e9 })
    return {
      decide: (host) => group.key(`http://host-${host}.example`).schedule(nothing),
      async close() {
        await Promise.all(group.limiters().map(({ limiter }) => limiter.disconnect(false)))
        await connection.disconnect(false)
      },
    }
  },
}

/** In the order of the table. The first is what the others are compared with. */
export const redisContenders: readonly RedisContender[] = [
  ceiling,
  hostpace('one layer', oneLayer),
  hostpace('two layers', twoLayers),
  hostpace('three layers', threeLayers),
  flexible,
  bottleneck,
]

async function connect(port: number): Promise<Redis> {
  const client = new Redis(port, '127.0.0.1', { lazyConnect: true })
  await client.connect()
  return client
}

async function nothing(): Promise<void> {}
