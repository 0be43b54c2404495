/** Real processes that send to one host, judged by the log of that host. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPacer, type Policy } from '@hostpace/core'
import { sqliteStore } from '@hostpace/sqlite'
import { describe, expect, test } from 'vitest'
import { findProgram } from '../server-limiters/proxies.ts'
import { runAgainstNginx } from './against-nginx.ts'
import { mostWithin, startLogServer } from './log-server.ts'
import { runWorkers, type StorePlan, type WorkerReport } from './start-workers.ts'

const noSqlite = await whyNoSqlite()
if (noSqlite !== '') console.log(`Processes on SQLite are not tested: ${noSqlite}`)
const nginx = findProgram('nginx')

/** Stamps of processes that stand still for a moment say as much: what comes within a window is counted in one shorter by that. */
const stampingMs = 5

/** What leaves within half a second at 50 a second. Four who pace each for itself would send 1500 too many. */
const standstill = 25

interface Outcome {
  readonly reports: readonly WorkerReport[]
  readonly arrivalsMs: readonly number[]
  /** By how much stamps may be off. */
  readonly allowanceMs: number
}

async function run(processes: number, store: StorePlan, policy: Policy, forMs: number): Promise<Outcome> {
  const server = await startLogServer()
  let lagMs = 0
  try {
    const reports = await runWorkers(processes, { store, origin: server.origin, policy }, forMs)
    lagMs = await server.close()
    const workerLagMs = Math.max(...reports.map((report) => report.lagMs))
    return { reports, arrivalsMs: server.arrivalsMs, allowanceMs: stampingMs + lagMs + workerLagMs }
  } finally {
    if (lagMs === 0) await server.close()
  }
}

async function withFile<T>(use: (store: StorePlan) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'hostpace-processes-'))
  try {
    return await use({ kind: 'sqlite', path: join(folder, 'pace.db') })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function errorsOf(reports: readonly WorkerReport[]): string[] {
  return reports.flatMap(({ errors }) => errors)
}

describe.skipIf(noSqlite !== '')('processes on one SQLite file', { timeout: 120_000 }, () => {
  test('two keep to a short and a long window together, and no error of a lock reaches a caller (D06)', () =>
    withFile(async (store) => {
      const quotas = [
        { limit: 2, windowMs: 1000 },
        { limit: 12, windowMs: 10_000 },
      ]
      const { reports, arrivalsMs, allowanceMs } = await run(2, store, { rate: 10, quotas }, 15_000)
      expect(errorsOf(reports)).toEqual([])
      for (const { limit, windowMs } of quotas) {
        expect(mostWithin(windowMs - allowanceMs, arrivalsMs)).toBeLessThanOrEqual(limit)
      }
      expect(arrivalsMs.length).toBeGreaterThanOrEqual(12)
    }))

  test('four that may send 7 a second send 7 a second in all (D13)', () =>
    withFile(async (store) => {
      const policy = { rate: 7, quotas: [{ limit: 7, windowMs: 1000 }] }
      const { reports, arrivalsMs, allowanceMs } = await run(4, store, policy, 5000)
      expect(errorsOf(reports)).toEqual([])
      expect(mostWithin(1000 - allowanceMs, arrivalsMs)).toBeLessThanOrEqual(7)
      expect(arrivalsMs.length).toBeGreaterThanOrEqual(7)
    }))

  test.skipIf(nginx === undefined)('nginx with the same limit refuses none of their requests', () =>
    withFile(async (store) => {
      const { passed, refused, reports } = await runAgainstNginx(nginx as string, 4, store, 10_000, standstill)
      expect(errorsOf(reports)).toEqual([])
      expect(refused).toBe(0)
      for (const { statuses } of reports) expect(statuses[200]).toBeGreaterThan(0)
      expect(passed).toBeGreaterThan(0)
    }),
  )
})

test('with the memory store each paces for itself, so four send four times as much (D13)', {
  timeout: 120_000,
}, async () => {
  const policy = { rate: 7, quotas: [{ limit: 7, windowMs: 1000 }] }
  const { arrivalsMs } = await run(4, { kind: 'memory' }, policy, 3000)
  expect(mostWithin(1000, arrivalsMs)).toBeGreaterThan(7)
})

/** Whether the store can be had here. */
async function whyNoSqlite(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'hostpace-processes-'))
  const store = sqliteStore({ path: join(folder, 'pace.db'), onStoreError: 'throw' })
  const pacer = createPacer({ rate: 1, store })
  try {
    await pacer.peek('https://a.example/')
    return ''
  } catch (error) {
    return String((error as Error).cause ?? error)
  } finally {
    await pacer.close()
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
