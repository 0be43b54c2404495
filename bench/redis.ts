/**
 * Limiters whose credit stands in a Redis, against a script that does nothing, through the same client: decisions per
 * second, how long one takes, round trips, and the processor time of both ends. One host and 10,000, few at a time and many.
 */
import { Redis } from 'ioredis'
import { type OpenContender, type RedisContender, redisContenders } from './lib/redis-contenders.ts'
import { startRedis } from './lib/redis-server.ts'
import { median, quantile } from './lib/statistics.ts'
import { printTable } from './lib/table.ts'

const rounds = 5
const measuredMs = 400
const manyHosts = 10_000

/** What came of one contender in one round. */
interface Sample {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly tripsPerDecision: number
  readonly serverUs: number
  readonly clientUs: number
}

/** One that takes part in a comparison. */
interface Entrant {
  readonly label: string
  /** How many hosts it is asked for. */
  readonly hosts: number
  readonly open: OpenContender
  readonly samples: Sample[]
}

/** What the server has done so far. */
interface ServerUse {
  readonly scripts: number
  readonly cpuMs: number
}

const server = await startRedis()
if (server === undefined) {
  console.log('redis: needs redis-server; `npm test` installs it on Debian')
  process.exit(0)
}
const admin = new Redis(server.port, '127.0.0.1')
try {
  for (const hosts of [1, manyHosts]) {
    for (const atOnce of [1, 64, 512]) await compare(server.port, hosts, atOnce)
  }
  await weigh(server.port)
} finally {
  admin.disconnect()
  server.close()
}

async function compare(port: number, hosts: number, atOnce: number): Promise<void> {
  const entrants = await Promise.all(redisContenders.map((contender) => enter(contender, port, hosts)))
  for (let round = -1; round < rounds; round++) {
    for (const { open, hosts, samples } of entrants) {
      const sample = await load(open, hosts, atOnce)
      if (round >= 0) samples.push(sample)
    }
  }
  await Promise.all(entrants.map(({ open }) => open.close()))
  await admin.flushall()
  print(`${hosts === 1 ? 'One host' : `${hosts} hosts`}, ${atOnce} at a time`, entrants)
}

async function enter(contender: RedisContender, port: number, hosts: number): Promise<Entrant> {
  const { name } = contender
  const asked = hostsOf(contender, hosts)
  const label = asked === hosts ? name : `${name} (${asked} hosts)`
  return { label, hosts: asked, open: await contender.open(port), samples: [] }
}

/** Callers that each ask for one host after the other, for a while. */
async function load(contender: OpenContender, hosts: number, atOnce: number): Promise<Sample> {
  const waits: number[] = []
  let next = 0
  const before = await serverUse()
  const cpuBefore = process.cpuUsage()
  const startMs = performance.now()
  const endMs = startMs + measuredMs
  const caller = async (): Promise<void> => {
    for (let nowMs = startMs; nowMs < endMs; ) {
      await contender.decide(next++ % hosts)
      const thenMs = performance.now()
      waits.push(thenMs - nowMs)
      nowMs = thenMs
    }
  }
  await Promise.all(Array.from({ length: atOnce }, caller))
  const tookMs = performance.now() - startMs
  const { user, system } = process.cpuUsage(cpuBefore)
  const after = await serverUse()
  return {
    perSecond: (waits.length * 1000) / tookMs,
    p50Ms: median(waits),
    p99Ms: quantile(waits, 0.99),
    tripsPerDecision: (after.scripts - before.scripts) / waits.length,
    serverUs: ((after.cpuMs - before.cpuMs) * 1000) / waits.length,
    clientUs: (user + system) / waits.length,
  }
}

async function serverUse(): Promise<ServerUse> {
  const commands = await admin.info('commandstats')
  const cpu = await admin.info('cpu')
  const scripts = [...commands.matchAll(/cmdstat_(?:eval|evalsha|fcall):calls=(\d+)/g)]
  const seconds = [...cpu.matchAll(/used_cpu_(?:sys|user):([\d.]+)/g)]
  return { scripts: sumOf(scripts), cpuMs: sumOf(seconds) * 1000 }
}

function sumOf(matches: readonly RegExpMatchArray[]): number {
  return matches.reduce((sum, [, figure]) => sum + Number(figure), 0)
}

function print(title: string, entrants: readonly Entrant[]): void {
  const [ceiling] = entrants.map(({ samples }) => middle(samples, 'perSecond'))
  const rows = entrants.map(({ label, samples }) => {
    const perSecond = middle(samples, 'perSecond')
    const figures = (['p50Ms', 'p99Ms', 'tripsPerDecision', 'serverUs', 'clientUs'] as const).map((figure) =>
      middle(samples, figure),
    )
    return [label, perSecond, perSecond / (ceiling as number), ...figures]
  })
  const columns = ['', 'per second', 'of empty', 'p50 ms', 'p99 ms', 'round trips', 'server us', 'client us']
  printTable(title, columns, rows)
}

function middle(samples: readonly Sample[], figure: keyof Sample): number {
  return median(samples.map((sample) => sample[figure]))
}

/** Bytes that a host takes in the server once it has been asked for. */
async function weigh(port: number): Promise<void> {
  const rows = []
  for (const contender of redisContenders.slice(1)) {
    await admin.flushall()
    const hosts = hostsOf(contender, manyHosts)
    const open = await contender.open(port)
    const before = await memoryUsed()
    for (let from = 0; from < hosts; from += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, index) => open.decide(from + index)))
    }
    const bytes = ((await memoryUsed()) - before) / hosts
    rows.push([contender.name, bytes, (await admin.dbsize()) / hosts])
    await open.close()
  }
  printTable('What one host takes in the server', ['', 'bytes', 'keys'], rows)
}

async function memoryUsed(): Promise<number> {
  const [, used] = (await admin.info('memory')).match(/used_memory:(\d+)/) ?? []
  return Number(used)
}

function hostsOf({ hosts: most = Number.POSITIVE_INFINITY }: RedisContender, hosts: number): number {
  return Math.min(hosts, most)
}
