import { Cluster, Redis } from 'ioredis'
import { type RedisServer, startRedisServer } from './redis-server.ts'

const slots = 16_384

/** Three masters that know of each other. */
export interface RedisCluster {
  readonly ports: readonly number[]
  /** Moves the hash slot of a key, with all that is in it, to another node. */
  moveSlotOf(key: string): Promise<void>
  /** The keys of all nodes. */
  keys(): Promise<string[]>
  close(): Promise<void>
}

/** Starts a cluster of three nodes on free ports of 127.0.0.1. */
export async function startRedisCluster(): Promise<RedisCluster> {
  const servers = await Promise.all(
    [0, 1, 2].map(() => startRedisServer('--cluster-enabled', 'yes', '--cluster-node-timeout', '2000')),
  )
  const nodes = servers.map(({ url }) => new Redis(url))
  await form(servers, nodes)
  const moved = new Map<number, number>()
  return {
    ports: servers.map(({ port }) => port),
    moveSlotOf: (key) => moveSlotOf(key, servers, nodes, moved),
    keys: async () => (await Promise.all(nodes.map((node) => node.keys('*')))).flat(),
    async close() {
      for (const node of nodes) node.disconnect()
      await Promise.all(servers.map((server) => server.close()))
    },
  }
}

/** A client of ioredis for a cluster. */
export function clusterClient({ ports }: RedisCluster): Cluster {
  return new Cluster(ports.map((port) => ({ host: '127.0.0.1', port })))
}

async function form(servers: readonly RedisServer[], nodes: readonly Redis[]): Promise<void> {
  for (const [index, node] of nodes.entries()) {
    const from = Math.floor((slots * index) / nodes.length)
    const to = Math.floor((slots * (index + 1)) / nodes.length) - 1
    await node.call('CLUSTER', 'ADDSLOTSRANGE', `${from}`, `${to}`).catch(async () => {
      // Redis 6.2 takes them one by one.
      const each = Array.from({ length: to - from + 1 }, (_, offset) => `${from + offset}`)
      await node.call('CLUSTER', 'ADDSLOTS', ...each)
    })
    await node.call('CLUSTER', 'SET-CONFIG-EPOCH', `${index + 1}`)
  }
  for (const { port } of servers.slice(1)) await nodes[0]?.call('CLUSTER', 'MEET', '127.0.0.1', `${port}`)
  for (const node of nodes) await until(async () => /cluster_state:ok/.test(String(await node.call('CLUSTER', 'INFO'))))
  for (const node of nodes)
    await until(async () => /cluster_known_nodes:3/.test(String(await node.call('CLUSTER', 'INFO'))))
}

/** @param owners the slots that have been moved, each with the index of its node */
async function moveSlotOf(
  key: string,
  servers: readonly RedisServer[],
  nodes: readonly Redis[],
  owners: Map<number, number>,
): Promise<void> {
  const number = Number(await nodes[0]?.call('CLUSTER', 'KEYSLOT', key))
  const slot = String(number)
  const ids = await Promise.all(nodes.map(async (node) => String(await node.call('CLUSTER', 'MYID'))))
  const from = owners.get(number) ?? Math.floor((number * nodes.length) / slots)
  const to = (from + 1) % nodes.length
  owners.set(number, to)
  const [source, target] = [nodes[from] as Redis, nodes[to] as Redis]
  await target.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', ids[from] as string)
  await source.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', ids[to] as string)
  const moved = (await source.call('CLUSTER', 'GETKEYSINSLOT', slot, '100')) as string[]
  const { port } = servers[to] as RedisServer
  if (moved.length > 0) await source.call('MIGRATE', '127.0.0.1', `${port}`, '', '0', '1000', 'KEYS', ...moved)
  for (const node of [target, source, ...nodes]) await node.call('CLUSTER', 'SETSLOT', slot, 'NODE', ids[to] as string)
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt++) {
    if (await isSo()) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error('the cluster does not form')
}
