import { join } from 'node:path'
import type { Policy } from '@hostpace/core'
import type { LedgerAnswers, LedgerCall, Limits, Step } from '@hostpace/core/stores'
import { describe, expect, test } from 'vitest'
import { Limits as LimitsOfCore } from '../../core/src/limits.ts'
import { openDatabase } from '../src/database.ts'
import { SqliteLedger } from '../src/sqlite-ledger.ts'
import { noSqlite, Program, TestMachine, url, withFolder } from './sqlite-setting.ts'

const daily = { rate: 100, quotas: [{ limit: 3, windowMs: 86_400_000 }] }

/** Limits as a pacer makes them for a ledger. To the compiler the sources of core are another package than core. */
function limits(policy: Policy): Limits {
  return new LimitsOfCore(policy, 1000, true) as unknown as Limits
}

function leave(slot: string): Step {
  return { kind: 'leave', slot, cost: 1, order: 1, more: 0 }
}

function sent(slot: string): Step {
  return { kind: 'sent', slot, cost: 1, agoMs: 0 }
}

function callOf(steps: readonly Step[], of = limits({ intervalMs: 2000 }), worker = 'a'): LedgerCall {
  const fixed = { key: url, leaseMs: 30_000, horizonMs: 100, inFlight: 0, seq: 0, learnedVersion: 0 }
  return { ...fixed, limits: of, worker, steps }
}

function ask(ledger: SqliteLedger, ...call: Parameters<typeof callOf>): LedgerAnswers {
  return ledger.decide(callOf(...call)) as LedgerAnswers
}

/** How many rows a table of the file has. */
function rows(path: string, table: 'state' | 'notice'): number {
  const db = openDatabase(path)
  const { n } = db.prepare(`SELECT count(*) AS n FROM hostpace_${table}`).get() as { n: number }
  db.close()
  return n
}

/** Two programs, and what both may be told after a while in which a third makes the file be swept. */
async function withTwo<T>(use: (setting: Setting) => Promise<T>): Promise<T> {
  return withFolder(async (folder) => {
    const path = join(folder, 'pace.db')
    const machine = new TestMachine()
    const opened: Program[] = []
    const open = (policy: ConstructorParameters<typeof Program>[2]) => {
      const program = new Program(path, machine, policy)
      opened.push(program)
      return program
    }
    const advance = (ms: number) => machine.clock.advanceAsync(ms)
    const sweep = async () => {
      const other = open({ rate: 10 })
      await other.pacer.run('https://elsewhere.example/', async () => undefined)
      await advance(0)
    }
    try {
      return await use({ path, machine, open, advance, sweep })
    } finally {
      for (const program of opened) await program.close()
    }
  })
}

interface Setting {
  readonly path: string
  readonly machine: TestMachine
  open(policy: ConstructorParameters<typeof Program>[2]): Program
  advance(ms: number): Promise<void>
  sweep(): Promise<void>
}

describe.skipIf(noSqlite !== false)('the file', () => {
  test('forgets hosts that have recovered, and nothing else', () =>
    withTwo(async ({ path, open, advance, sweep }) => {
      const one = open({ rate: 10, hosts: { 'https://b.example': daily } })
      for (let host = 0; host < 50; host++) await one.pacer.run(`https://a${host}.example/`, async () => undefined)
      await one.pacer.run('https://b.example/', async () => undefined)
      one.pacer.pause('https://a1.example/', 1000)
      await advance(0)
      expect([rows(path, 'state'), rows(path, 'notice')]).toEqual([51, 1])
      await advance(200_000)
      await sweep()
      // That of the quota, and that of the host which was asked just now.
      expect([rows(path, 'state'), rows(path, 'notice')]).toEqual([2, 0])
    }))

  test('a former policy of a host is remembered as long as its own credit asks for', () =>
    withTwo(async ({ open, advance, sweep }) => {
      const one = open(daily)
      one.send(3)
      await advance(1000)
      one.pacer.update(url, { rate: 10 })
      await one.pacer.peek(url)
      await advance(200_000)
      await sweep()
      const other = open(daily)
      expect((await other.pacer.peek(url)).waitMs).toBeGreaterThan(86_000_000)
    }))

  test('a pause that comes after an earlier one has been forgotten holds under every policy', () =>
    withTwo(async ({ open, advance, sweep }) => {
      const other = open(daily)
      other.send(1)
      open({ rate: 10 }).pacer.pause(url, 1000)
      await advance(2000)
      await other.pacer.peek(url)
      await advance(200_000)
      await sweep()
      open({ rate: 10 }).pacer.pause(url, 5000)
      await advance(0)
      expect((await other.pacer.peek(url)).waitMs).toBe(5000)
    }))
})

describe.skipIf(noSqlite !== false)('a ledger', () => {
  test('does not take a state that has begun anew for the one that it remembers', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'pace.db')
      const machine = new TestMachine()
      const [one, other] = [new SqliteLedger(path, 250, machine), new SqliteLedger(path, 250, machine)]
      ask(one, [leave('a.1'), sent('a.1')])
      // Neither knows that the row of the host was swept.
      const db = openDatabase(path)
      db.exec('DELETE FROM hostpace_state')
      db.close()
      await machine.clock.advanceAsync(1000)
      ask(other, [leave('b.1'), sent('b.1')])
      expect(ask(one, [leave('a.2')]).answers).toMatchObject([{ kind: 'promised', waitMs: 2000 }])
      for (const ledger of [one, other]) ledger.close()
    }))

  test('sees what another has done to the state under a former policy', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'pace.db')
      const machine = new TestMachine()
      const [one, other] = [new SqliteLedger(path, 250, machine), new SqliteLedger(path, 250, machine)]
      const former = limits({ intervalMs: 2000 })
      ask(one, [leave('a.1')], former)
      ask(other, [leave('b.1')], former, 'b')
      const slots = () => {
        const [answer] = ask(one, [{ kind: 'view' }], former).answers
        return answer?.kind === 'viewed' ? answer.saved.slots.map(({ name }) => name) : []
      }
      expect(slots()).toEqual(['a.1', 'b.1'])
      ask(other, [{ kind: 'adopt', from: former }], limits({ rate: 10 }), 'b')
      expect(slots()).toEqual(['a.1'])
      for (const ledger of [one, other]) ledger.close()
    }))

  test('is not opened again by a call that waited for the lock when it was closed', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'pace.db')
      const ledger = new SqliteLedger(path, 250, new TestMachine())
      ask(ledger, [])
      const db = openDatabase(path)
      db.exec('BEGIN EXCLUSIVE')
      const answer = ledger.decide(callOf([]))
      ledger.close()
      db.exec('COMMIT')
      db.close()
      await expect(answer).rejects.toThrow('closed')
    }))
})
