/** What 100,000 requests that wait cost, and how late they leave. */
import { createPacer, type Pacer, type Policy } from '@hostpace/core'
import { RateLimiter } from 'limiter'
import pThrottle from 'p-throttle'
import { inChild } from './lib/child.ts'
import { usedBytes } from './lib/memory.ts'
import { median, quantile } from './lib/statistics.ts'
import { printTable } from './lib/table.ts'

interface WaitersCost {
  /** Microseconds of processor time to line one up. */
  readonly lineUpUs: number
  readonly bytes: number
  /** Microseconds of processor time to let one go. */
  readonly leaveUs: number
  /** Milliseconds from the first to the last departure. */
  readonly tookMs: number
}

/** What it costs to have `count` requests wait, all at once. */
async function cost(count: number, wait: (number: number) => Promise<unknown>): Promise<WaitersCost> {
  const before = usedBytes()
  const cpuBefore = process.cpuUsage()
  const startMs = performance.now()
  const departures: Promise<unknown>[] = new Array(count)
  for (let number = 0; number < count; number++) departures[number] = wait(number)
  const lineUp = process.cpuUsage(cpuBefore)
  const bytes = usedBytes() - before - count * 8
  const cpuThen = process.cpuUsage()
  await Promise.all(departures)
  const leave = process.cpuUsage(cpuThen)
  return {
    lineUpUs: (lineUp.user + lineUp.system) / count,
    bytes: bytes / count,
    leaveUs: (leave.user + leave.system) / count,
    tookMs: performance.now() - startMs,
  }
}

/** Asks the pacer for many hosts; the permits are given back at once. */
function paced(pacer: Pacer, hosts: number): (number: number) => Promise<unknown> {
  const urls = Array.from({ length: hosts }, (_, host) => `https://www.site-${host}.example/page`)
  return (number) => pacer.wait(urls[number % hosts] as string).then((permit) => permit.done())
}

/** Milliseconds that each head of a queue left after the moment it was promised; below 0 would be too early. */
async function lateness(count: number, hosts: number, policy: Policy, spreadMs: number): Promise<number[]> {
  const pacer = createPacer(policy)
  const promisedMs = new Map<string, number>()
  const lateMs: number[] = []
  pacer.on('wait', ({ key, waitMs }) => promisedMs.set(key, performance.now() + waitMs))
  pacer.on('depart', ({ key, waitedMs }) => {
    if (waitedMs > 0) lateMs.push(performance.now() - (promisedMs.get(key) ?? Number.NaN))
  })
  const wait = paced(pacer, hosts)
  const departures: Promise<unknown>[] = []
  for (let number = 0; number < count; number++) {
    departures.push(wait(number))
    // Hosts that are met at different times come up at different times.
    if (spreadMs > 0 && number < hosts) await new Promise((resolve) => setTimeout(resolve, spreadMs / hosts))
  }
  await Promise.all(departures)
  return lateMs
}

const many = 100_000
const settings: Record<string, () => Promise<WaitersCost>> = {
  spread: () => cost(many, paced(createPacer({ intervalMs: 200 }), 10_000)),
  'one-host': () => cost(many, paced(createPacer({ rate: 50_000 }), 1)),
  'p-throttle': () =>
    cost(
      many,
      pThrottle({ limit: 50_000, interval: 1000 })(async () => 0),
    ),
  limiter: () => {
    const limiter = new RateLimiter({ tokensPerInterval: 50_000, interval: 'second' })
    return cost(many, () => limiter.removeTokens(1))
  },
}
const names: Record<string, string> = {
  spread: 'hostpace, 10,000 hosts, one per 200 ms each',
  'one-host': 'hostpace, one host, 50,000 per second',
  'p-throttle': 'p-throttle, one host, 50,000 per second',
  limiter: 'limiter, one host, 50,000 per second',
}

const [kind] = process.argv.slice(2)
if (kind === undefined) {
  const rows = Object.entries(names).map(([setting, name]) => {
    const { lineUpUs, bytes, leaveUs, tookMs } = inChild<WaitersCost>('waiters', setting)
    return [name, lineUpUs, bytes, leaveUs, tookMs]
  })
  printTable('100,000 waiters', ['', 'us to line up', 'bytes', 'us to leave', 'ms for all'], rows)
  const late: [string, number[]][] = [
    ['300 hosts, one waiter each, spread over 1.5 s', await lateness(600, 300, { intervalMs: 1600 }, 1500)],
    ['one host, one per 10 ms', await lateness(200, 1, { intervalMs: 10 }, 0)],
    ['20,000 waiters, 10,000 hosts that all come up at once', await lateness(20_000, 10_000, { intervalMs: 2000 }, 0)],
  ]
  printTable(
    'Milliseconds late (below 0 is early)',
    ['', 'earliest', 'median', 'p99', 'worst'],
    late.map(([name, values]) => [
      name,
      Math.min(...values),
      median(values),
      quantile(values, 0.99),
      Math.max(...values),
    ]),
  )
} else {
  const setting = settings[kind]
  if (setting === undefined) throw new Error(`unknown: ${kind}`)
  console.log(JSON.stringify(await setting()))
  process.exit(0)
}
