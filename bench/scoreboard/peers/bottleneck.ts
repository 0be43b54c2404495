import Bottleneck from 'bottleneck'
import { RequestError } from 'got'
import { Redis } from 'ioredis'
import type { Limits, Peer, Setup } from '../peer.ts'
import { gotFor, perHost } from './client.ts'

/** How its README spaces a reservoir of 100 per minute out: `minTime: 333`. */
const minTimeOfReservoir = 333 / 600

/** Used as its README says: `minTime`, reservoirs with one, clustering through Redis, and retries by its `failed` event. */
export const bottleneck: Peer = {
  name: 'bottleneck',
  cannot(_, redisPort) {
    return redisPort === undefined ? 'needs a Redis server' : undefined
  },
  open(setup) {
    const client = gotFor({ ...setup, retries: false })
    const limiterOf = perHost(setup.hosts, (limits, origin) => limiter(limits, origin, setup))
    return { get: (url, options) => limiterOf(url).schedule(() => client(url, options)) }
  },
}

function limiter(limits: Limits, origin: string, { shared, retries }: Setup): Bottleneck {
  const clustering = shared && {
    id: origin,
    datastore: 'ioredis' as const,
    clearDatastore: false,
    clientOptions: { host: '127.0.0.1', port: shared.redisPort },
    Redis,
  }
  const made = new Bottleneck({ ...optionsOf(limits), ...clustering })
  made.on('error', (error) => console.error(error))
  if (retries) made.on('failed', retryAfterMs)
  return made
}

function optionsOf(limits: Limits): Bottleneck.ConstructorOptions {
  if ('intervalMs' in limits) return { minTime: limits.intervalMs }
  const { limit, windowMs } = limits
  return {
    reservoir: limit,
    reservoirRefreshAmount: limit,
    reservoirRefreshInterval: windowMs,
    // Of a long window it would be more than anybody waits.
    minTime: windowMs < 60_000 ? (minTimeOfReservoir * windowMs) / limit : 50,
  }
}

/** What it returns is the delay until the job runs again. */
async function retryAfterMs(error: unknown): Promise<number | undefined> {
  const header = error instanceof RequestError ? error.response?.headers['retry-after'] : undefined
  return header === undefined ? undefined : Number(header) * 1000
}
