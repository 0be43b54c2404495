import { PolicyError } from '@hostpace/core'

/**
 * A client of `redis` (node-redis 5 and 6; single, Sentinel or Cluster) or of `ioredis` 5 and 6 or `iovalkey` (single,
 * Sentinel or Cluster), connected by the program that owns it.
 */
export type RedisClient = NodeRedisClient | IoRedisClient

/** As much of a client of node-redis as is needed. */
export interface NodeRedisClient {
  evalSha(sha1: string, options: ScriptArguments): Promise<unknown>
  eval(script: string, options: ScriptArguments): Promise<unknown>
  destroy(): unknown
  connect(): Promise<unknown>
}

interface ScriptArguments {
  keys: string[]
  arguments: string[]
}

/** As much of a client of ioredis or iovalkey as is needed. */
export interface IoRedisClient {
  evalsha(sha1: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>
  eval(script: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>
  call(command: string, ...args: string[]): Promise<unknown>
  disconnect(reconnect?: boolean): void
  readonly status: string
}

/** What the ledger asks of a client, whichever it is. */
export interface ScriptRunner {
  /** Runs a script that the server knows. */
  evalSha(sha1: string, keys: string[], args: string[]): Promise<unknown>
  /** Runs a script that the server then knows. */
  eval(script: string, keys: string[], args: string[]): Promise<unknown>
  /** Drops the connection and makes it anew. */
  reconnect(): void
}

/**
 * Finds out which client it is.
 *
 * @throws {PolicyError} if it is none of the known
 */
export function scriptRunnerOf(client: RedisClient): ScriptRunner {
  if (hasMethods(client, ['evalSha', 'eval', 'destroy', 'connect']))
    return new NodeRedisRunner(client as NodeRedisClient)
  if (hasMethods(client, ['evalsha', 'eval', 'call', 'disconnect'])) return new IoRedisRunner(client as IoRedisClient)
  throw new PolicyError('options.client', 'must be a client of redis (node-redis), ioredis or iovalkey')
}

class NodeRedisRunner implements ScriptRunner {
  readonly #client: NodeRedisClient

  constructor(client: NodeRedisClient) {
    this.#client = client
  }

  evalSha(sha1: string, keys: string[], args: string[]): Promise<unknown> {
    return this.#client.evalSha(sha1, { keys, arguments: args })
  }

  eval(script: string, keys: string[], args: string[]): Promise<unknown> {
    return this.#client.eval(script, { keys, arguments: args })
  }

  reconnect(): void {
    // If it fails, the next call does too, and says so.
    reopen(this.#client).catch(() => {})
  }
}

/** A client of Sentinels ends later, if it is looking for the master, and cannot be opened before. */
async function reopen(client: NodeRedisClient): Promise<void> {
  await client.destroy()
  await client.connect()
}

class IoRedisRunner implements ScriptRunner {
  readonly #client: IoRedisClient

  constructor(client: IoRedisClient) {
    this.#client = client
  }

  evalSha(sha1: string, keys: string[], args: string[]): Promise<unknown> {
    return this.#client.evalsha(sha1, keys.length, ...keys, ...args)
  }

  eval(script: string, keys: string[], args: string[]): Promise<unknown> {
    return this.#client.eval(script, keys.length, ...keys, ...args)
  }

  reconnect(): void {
    // One that is connecting anyway would end for good.
    if (this.#client.status === 'ready') this.#client.disconnect(true)
  }
}

function hasMethods(client: unknown, names: readonly string[]): boolean {
  const methods = client as Record<string, unknown> | null | undefined
  return typeof methods === 'object' && names.every((name) => typeof methods?.[name] === 'function')
}
