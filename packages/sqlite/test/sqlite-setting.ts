import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPacer, type Pacer, type PacerOptions, type WaitOptions } from '@hostpace/core'
import { SharedStore, type SharedStoreOptions } from '@hostpace/core/stores'
import { ManualClock, type StoreDriver } from '@hostpace/core/testing'
import { openDatabase } from '../src/database.ts'
import type { MachineClock } from '../src/machine-clock.ts'
import { SqliteLedger } from '../src/sqlite-ledger.ts'

/** Whom the programs of the tests ask. */
export const url = 'https://a.example/'

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
  clock: ManualClock = new ManualClock()
  wallOffMs = 0
  boot = 'first'

  monotonicMs(): number {
    return this.clock.now()
  }

  wallMs(): number {
    return this.clock.now() + this.wallOffMs
  }

  /** Stops for `offMs` and starts anew: its monotonic clock begins at 0, the wall clock has gone on by `offMs + stepMs`. */
  restart(offMs: number, stepMs = 0): void {
    this.wallOffMs += this.clock.now() + offMs + stepMs
    this.clock = new ManualClock()
    this.boot += ' and another'
  }
}

/** A store on a file, as a process of `machine` has it. */
function storeOn(path: string, machine: TestMachine, options: SharedStoreOptions = {}): SharedStore {
  return new SharedStore(new SqliteLedger(path, 250, machine), { clock: machine.clock, ...options })
}

/** What a process on `machine` does that paces requests to `url` by the store on a file. */
export class Program {
  readonly pacer: Pacer
  readonly store: SharedStore
  readonly departures: number[] = []
  readonly errors: unknown[] = []
  readonly failures: unknown[] = []
  readonly #clock: ManualClock

  constructor(path: string, machine: TestMachine, policy: PacerOptions, options: SharedStoreOptions = {}) {
    this.#clock = machine.clock
    this.store = storeOn(path, machine, options)
    this.pacer = createPacer({ ...policy, clock: machine.clock, store: this.store })
    this.pacer.on('store-error', ({ error }) => this.failures.push(error))
  }

  /** Sends as many requests as may go, and notes when they do. */
  send(requests: number, options: WaitOptions = {}): void {
    for (let request = 0; request < requests; request++) {
      this.pacer.wait(url, options).then(
        (permit) => {
          this.departures.push(this.#clock.now())
          permit.sent()
          permit.done()
        },
        (error: unknown) => this.errors.push(error),
      )
    }
  }

  async close(): Promise<void> {
    await this.pacer.close()
    await this.store.close()
  }
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
