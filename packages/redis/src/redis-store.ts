import { PolicyError } from '@hostpace/core'
import { SharedStore, type SharedStoreOptions, type Store, sharedSettings } from '@hostpace/core/stores'
import { type RedisClient, scriptRunnerOf } from './redis-client.ts'
import { RedisLedger } from './redis-ledger.ts'

export interface RedisStoreOptions extends SharedStoreOptions {
  /** A connected client of `redis`, `ioredis` or `iovalkey`. The store neither connects nor closes it. */
  readonly client: RedisClient
  /**
   * What all keys begin with: programs with the same prefix share their credit. Without braces, which tell a cluster
   * where a key belongs. @default 'hostpace:'
   */
  readonly prefix?: string
}

/**
 * Keeps the credit of hosts in Redis 6.2 or newer, or in Valkey, so that any number of processes and machines share
 * one pace: more of them never change what a host receives.
 *
 * A decision is one run of one Lua script over all layers of a host, on the clock of the server, and one round trip. All
 * keys of a host have one hash tag, so a cluster may be as large as it likes, and every key expires by itself.
 *
 * ```ts
 * import { createPacer } from '@hostpace/core'
 * import { redisStore } from '@hostpace/redis'
 * import { Redis } from 'ioredis'
 *
 * const pacer = createPacer({ rate: '5r/s', store: redisStore({ client: new Redis() }) })
 * ```
 *
 * When the server answers that it is read-only, as one does that was the master before a failover, the connection of the
 * client is made anew, at most once a second; what else waits on that connection fails with it.
 *
 * @throws {PolicyError} if the client is none of the known, or an option makes no sense
 */
export function redisStore(options: RedisStoreOptions): Store {
  sharedSettings(options, ['client', 'prefix'])
  const { client, prefix = 'hostpace:', ...shared } = options
  if (typeof prefix !== 'string' || /[{}]/.test(prefix)) {
    throw new PolicyError('options.prefix', 'must be a text without braces')
  }
  return new SharedStore(new RedisLedger(scriptRunnerOf(client), prefix), shared)
}
