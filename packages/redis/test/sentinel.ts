import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { end, freePort, launch, type RedisServer, startRedisServer } from './redis-server.ts'

/** What the Sentinels call the master. */
export const masterName = 'pace'

/** A master, a replica, and three Sentinels, two of which are enough to put the replica in the master's place. */
export interface WatchedRedis {
  /** Where the Sentinels are. */
  readonly sentinels: { host: string; port: number }[]
  /** The one that is the master at first. */
  readonly master: RedisServer
  /** The one that is its replica at first. */
  readonly replica: RedisServer
  /** Whether all Sentinels say that the replica is the master. */
  isFailedOver(): Promise<boolean>
  close(): Promise<void>
}

/** Starts all five on free ports of 127.0.0.1, and waits until they know of each other. */
export async function startWatchedRedis(): Promise<WatchedRedis> {
  const master = await startRedisServer('--repl-diskless-sync-delay', '0')
  const replica = await startRedisServer('--replicaof', '127.0.0.1', `${master.port}`)
  const directory = await mkdtemp(join(tmpdir(), 'hostpace-sentinel-'))
  const started = await Promise.all([0, 1, 2].map(() => startSentinel(directory, master.port)))
  const watchers = started.map(({ port }) => new Redis(port, '127.0.0.1'))
  for (const watcher of watchers) await until(() => knowsAll(watcher))
  return {
    sentinels: started.map(({ port }) => ({ host: '127.0.0.1', port })),
    master,
    replica,
    async isFailedOver() {
      const ports = await Promise.all(watchers.map(masterPortOf))
      return ports.every((port) => port === replica.port)
    },
    async close() {
      for (const watcher of watchers) watcher.disconnect()
      await Promise.all([...started.map(({ child }) => end(child)), master.close(), replica.close()])
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** A Sentinel writes what it finds out into its configuration, so each has a file of its own. */
async function startSentinel(directory: string, masterPort: number): Promise<{ port: number; child: ChildProcess }> {
  const port = await freePort()
  const file = join(directory, `${port}.conf`)
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${directory}`,
    `sentinel monitor ${masterName} 127.0.0.1 ${masterPort} 2`,
    `sentinel down-after-milliseconds ${masterName} 1000`,
    `sentinel failover-timeout ${masterName} 5000`,
  ]
  await writeFile(file, `${lines.join('\n')}\n`)
  return { port, child: await launch(port, [file, '--sentinel']) }
}

async function knowsAll(watcher: Redis): Promise<boolean> {
  const fields = (await watcher.call('SENTINEL', 'MASTER', masterName)) as string[]
  const said = (name: string) => fields[fields.indexOf(name) + 1]
  return said('num-slaves') === '1' && said('num-other-sentinels') === '2'
}

async function masterPortOf(watcher: Redis): Promise<number> {
  const [, port] = (await watcher.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', masterName)) as [string, string]
  return Number(port)
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt++) {
    if (await isSo()) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error('the Sentinels do not find each other')
}
