/*
 * A soak: many requests by all clients through one pacer, to a server that does all that servers do. What must be so
 * at the end is checked, by what the clients leave behind and by what the server has written down.
 *
 * SOAK_REQUESTS says how many (50000), SOAK_SEED with which random numbers.
 */
import { createPacer } from '@hostpace/core'
import { wallMs } from '../../examples/demo/targets/stalls.ts'
import { BlindCalls } from './blind-calls.ts'
import { type Check, check, checkClients, watchFailures } from './checks.ts'
import { axiosClients } from './clients/axios.ts'
import { fetchClients } from './clients/fetch.ts'
import { gotClients } from './clients/got.ts'
import { undiciClients } from './clients/undici.ts'
import { CountingClock } from './counting-clock.ts'
import { endings } from './ending.ts'
import { type Finding, type Hold, judge, type Tolerance } from './judge.ts'
import { heapMb } from './memory.ts'
import { origins, takesBlindClients } from './origins.ts'
import { PauseWatch } from './pauses.ts'
import { Probe } from './probe.ts'
import { startServer } from './start-server.ts'
import { table } from './table.ts'
import { Traffic } from './traffic.ts'

const requests = wholeNumber('SOAK_REQUESTS', 50_000)
const seed = wholeNumber('SOAK_SEED', Math.floor(Math.random() * 2 ** 31))

/**
 * From the write to the stamp it is 0.2 ms as a rule. Beyond that the server's process may have been held up: it
 * notices from 3 ms on, which is part of the stamp then, and 2 ms after that all that had come is stamped.
 *
 * The wider one is for what takes some turns of a busy client: how late one writes that cannot tell when it does, a
 * request that was let go right before a hold, and how late the server learns that a connection is gone. Where the
 * client's whole process was held up for longer, which on a machine that does other things as well may be a quarter of
 * a second, that is known and taken off.
 */
const tolerance: Tolerance = { stampMs: 5, windowMs: 50 }

console.log(`${requests} requests, seed ${seed}: SOAK_SEED=${seed} SOAK_REQUESTS=${requests} npm run soak\n`)
const failures = watchFailures()
const blind = origins.filter(takesBlindClients).map(({ name }) => name)
const server = await startServer({ seed, names: origins.map(({ name }) => name), blind })

const clock = new CountingClock()
const pacer = createPacer({
  clock,
  // What refusals teach goes no further than this: chaos would teach the pacer to take hours.
  adapt: { startIntervalMs: 1, minIntervalMs: 1, maxIntervalMs: 1 },
  hosts: {
    ...Object.fromEntries(origins.map(({ name, policy }) => [server.urls[name] as string, policy])),
    [server.urls.probe as string]: { rate: '1000r/s' },
  },
})
const holds = new Map<string, Hold[]>()
pacer.on('pause', ({ key, waitMs }) => {
  const nowMs = wallMs()
  holds.set(key, [...(holds.get(key) ?? []), { fromMs: nowMs, toMs: nowMs + waitMs }])
})
const calls = new BlindCalls()
const groups = [gotClients(pacer), axiosClients(pacer, calls), undiciClients(pacer), fetchClients(pacer, calls)]
const traffic = new Traffic(
  seed,
  groups.flatMap(({ clients }) => clients),
  server.urls,
)
await traffic.warmUp(server.urls.probe as string)
const probe = new Probe(server.urls.probe as string)

const pauses = new PauseWatch()

const startedMs = performance.now()
const tenth = Math.ceil(requests / 10)
await traffic.run(tenth)
const firstMb = await heapMb()
console.log(`${tenth} have ended after ${seconds(performance.now() - startedMs)} s`)
await traffic.run(requests - tenth)
console.log(`${traffic.settled} have ended after ${seconds(performance.now() - startedMs)} s\n`)
const endMb = await heapMb()
traffic.stop()
const delays = probe.stop()
pauses.stop()

const stats = pacer.stats()
const checks = await checkClients(traffic, pacer, clock, groups, [firstMb, endMb])
const log = await server.stop()
const reports = origins.map(({ name, policy }) => {
  const url = server.urls[name] as string
  const arrivals = log[name] ?? []
  for (const arrival of arrivals) {
    arrival.heldUpMs = Math.max(pauses.heldUpMs(arrival.atMs), calls.delayMs(arrival.id, arrival.atMs))
  }
  const departures = stats.hosts[url]?.departures ?? 0
  return {
    name,
    arrived: arrivals.length,
    departures,
    refused: stats.hosts[url]?.refused ?? 0,
    findings: judge(arrivals, policy, holds.get(url) ?? [], tolerance),
  }
})
checks.push(
  check('nothing was left unhandled', failures.length === 0, failures.join('\n  ')),
  ...reports.map(({ name, arrived, departures }) =>
    check(`${name}: nothing came that was not let go`, arrived <= departures, `${arrived} of ${departures}`),
  ),
  ...reports.flatMap(({ name, findings }) => findings.map((finding) => ruleCheck(name, finding))),
)

console.log(`${clientTable()}\n\n${originTable()}\n`)
const { medianMs, p99Ms, longestMs } = delays
console.log(
  `From write to stamp, by new connections: median ${medianMs.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, longest ${longestMs.toFixed(1)} ms.`,
)
console.log(`The clients' process was held up ${pauses.summary}.`)
console.log(`Tolerated: ${tolerance.stampMs} ms for gaps, ${tolerance.windowMs} ms for windows.\n`)
for (const { name, problem } of checks) console.log(problem === '' ? `✔ ${name}` : `✖ ${name}: ${problem}`)
process.exit(checks.every(({ problem }) => problem === '') ? 0 : 1)

function clientTable(): string {
  const rows = [...traffic.tally]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, counts]) => ({ name, counts: endings.map((ending) => counts.get(ending) ?? 0) }))
  const all = endings.map((_, at) => rows.reduce((sum, { counts }) => sum + (counts[at] ?? 0), 0))
  const lines = [...rows, { name: 'all', counts: all }]
  return table(
    ['client', 'requests', ...endings],
    lines.map(({ name, counts }) => [name, counts.reduce((sum, count) => sum + count, 0), ...counts]),
  )
}

function originTable(): string {
  const rows = reports.flatMap(({ name, arrived, departures, refused, findings }) =>
    findings.map(({ rule, worst, allowed, unit }, at) => [
      ...(at === 0 ? [name, departures, arrived, refused] : ['', '', '', '']),
      rule,
      worst,
      `${allowed} ${unit}`,
    ]),
  )
  return table(['origin', 'let go', 'arrived', 'turned away', 'rule', 'worst', 'allowed'], rows)
}

function ruleCheck(name: string, { rule, worst, allowed, unit, isKept }: Finding): Check {
  return check(`${name}: ${rule}`, isKept, `${worst} ${unit} where ${allowed} are allowed`)
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}

function wholeNumber(name: string, fallback: number): number {
  const value = Number(process.env[name] ?? fallback)
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${name} must be a whole number`)
  return value
}
