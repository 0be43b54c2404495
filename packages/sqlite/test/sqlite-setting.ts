import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SharedStore, type SharedStoreOptions } from '@hostpace/core/stores'
import { ManualClock, type StoreDriver } from '@hostpace/core/testing'
import { openDatabase } from '../src/database.ts'
import type { MachineClock } from '../src/machine-clock.ts'
import { SqliteLedger } from '../src/sqlite-ledger.ts'

/** Why the tests cannot run here; `false` if they can. */
export const noSqlite: string | false = whyNot()

/** A folder that is gone after `use`. */
export async function withFolder<T>(use: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'hostpace-sqlite-'))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A machine whose clocks a test sets; it has been running since time 0. */
export class TestMachine implements MachineClock {
  readonly clock: ManualClock = new ManualClock()
  wallOffMs = 0
  boot = 'first'

  monotonicMs(): number {
    return this.clock.now()
  }

  wallMs(): number {
    return this.clock.now() + this.wallOffMs
  }
}

/** A store on a file, as a process of `machine` has it. */
export function storeOn(path: string, machine: TestMachine, options: SharedStoreOptions = {}): SharedStore {
  return new SharedStore(new SqliteLedger(path, 250, machine), { clock: machine.clock, ...options })
}

/** Two processes on one file. */
export const sqliteDriver: StoreDriver = {
  open() {
    const folder = mkdtempSync(join(tmpdir(), 'hostpace-sqlite-'))
    const machine = new TestMachine()
    const path = join(folder, 'pace.db')
    const stores = [storeOn(path, machine), storeOn(path, machine)] as const
    return {
      stores,
      nowMs: () => machine.clock.now(),
      advance: (ms) => machine.clock.advanceAsync(ms),
      async close() {
        for (const store of stores) await store.close()
        rmSync(folder, { recursive: true, force: true })
      },
    }
  },
}

function whyNot(): string | false {
  try {
    openDatabase(':memory:').close()
    return false
  } catch (error) {
    return (error as Error).message
  }
}
