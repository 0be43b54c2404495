/*
 * A soak: many requests by all clients through one pacer, to a server that does all that servers do. What must be so
 * at the end is checked, by what the clients leave behind and by what the server has written down.
 *
 * SOAK_REQUESTS says how many (50000), SOAK_SEED with which random numbers.
 */
import { createPacer } from '@hostpace/core'
import { check, checkClients, watchFailures } from './checks.ts'
import { axiosClients } from './clients/axios.ts'
import { fetchClients } from './clients/fetch.ts'
import { gotClients } from './clients/got.ts'
import { undiciClients } from './clients/undici.ts'
import { CountingClock } from './counting-clock.ts'
import { type Hold, judge, type Tolerance, type Visit } from './judge.ts'
import { machineMs } from './machine-clock.ts'
import { heapMb } from './memory.ts'
import { origins, takesBlindClients } from './origins.ts'
import { PauseWatch } from './pauses.ts'
import { clientTable, type OriginReport, originChecks, originTable } from './report.ts'
import { Stamps } from './stamps.ts'
import { startServer } from './start-server.ts'
import { Traffic } from './traffic.ts'
import { delaysOf, visitsOf } from './visits.ts'
import { idIn } from './wire.ts'

const requests = wholeNumber('SOAK_REQUESTS', 50_000)
const seed = wholeNumber('SOAK_SEED', Math.floor(Math.random() * 2 ** 31))

/**
 * Each request is judged by the server's stamp and by the moment of its write, as node:http and undici tell it: what lies
 * between, 0.3 ms as a rule and half a second where others use the processors, is measured for each and not guessed. So
 * all that is left for gaps and windows is what reading a clock takes.
 *
 * What was let go takes some turns of a busy process until it is written, and so does giving one up until the server
 * knows: in an idle process that is below 5 ms, in this one below 50 where it is not held up altogether.
 */
const tolerance: Tolerance = { clockMs: 1, turnsMs: 50 }

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
    [server.urls.elsewhere as string]: { rate: '1000r/s' },
  },
})
const holds = new Map<string, Hold[]>()
pacer.on('pause', ({ key, waitMs }) => {
  const nowMs = machineMs()
  holds.set(key, [...(holds.get(key) ?? []), { fromMs: nowMs, toMs: nowMs + waitMs }])
})
const called = new Stamps()
const stampedFetch: typeof fetch = (input, init) => {
  const id = idIn(input instanceof Request ? input.url : String(input))
  if (id !== undefined) called.note(id)
  return fetch(input, init)
}
const groups = [
  gotClients(pacer),
  axiosClients(pacer, stampedFetch),
  undiciClients(pacer),
  fetchClients(pacer, stampedFetch),
]
const traffic = new Traffic(
  seed,
  groups.flatMap(({ clients }) => clients),
  server.urls,
)
await traffic.warmUp(server.urls.elsewhere as string)

const startedMs = performance.now()
const pauses = new PauseWatch()
const tenth = Math.ceil(requests / 10)
await traffic.run(tenth)
const firstMb = await heapMb()
console.log(`${tenth} have ended after ${seconds(performance.now() - startedMs)} s`)
await traffic.run(requests - tenth)
console.log(`${traffic.settled} have ended after ${seconds(performance.now() - startedMs)} s\n`)
const endMb = await heapMb()
traffic.stop()
pauses.stop()

const stats = pacer.stats()
const checks = await checkClients(traffic, pacer, clock, groups, server, [firstMb, endMb])
const log = await server.stop()
const visits = new Map<string, Visit[]>()
const reports = origins.map(({ name, policy }): OriginReport => {
  const url = server.urls[name] as string
  const own = visitsOf(log[name] ?? [], { written: traffic.written, givenUp: traffic.givenUp, called, pauses })
  visits.set(name, own)
  const { departures = 0, refused = 0 } = stats.hosts[url] ?? {}
  const findings = judge(own, policy, holds.get(url) ?? [], tolerance)
  return { name, departures, arrived: own.length, refused, findings }
})
checks.push(
  check('nothing was left unhandled', failures.length === 0, failures.join('\n  ')),
  ...reports.flatMap(originChecks),
)

console.log(`${clientTable(traffic.tally)}\n\n${originTable(reports)}\n`)
console.log(`From the write, or the call of fetch, to the stamp: ${delaysOf([...visits.values()].flat())}.`)
console.log(`The clients' process was held up ${pauses.summary}.`)
console.log(`Tolerated: ${tolerance.clockMs} ms for clocks, ${tolerance.turnsMs} ms for turns.\n`)
for (const { name, problem } of checks) console.log(problem === '' ? `✔ ${name}` : `✖ ${name}: ${problem}`)
process.exit(checks.every(({ problem }) => problem === '') ? 0 : 1)

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}

function wholeNumber(name: string, fallback: number): number {
  const value = Number(process.env[name] ?? fallback)
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${name} must be a whole number`)
  return value
}
