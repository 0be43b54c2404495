import {
  decodeSaved,
  encodeSaved,
  type HostNotice,
  HostState,
  type Ledger,
  type LedgerCall,
  type LedgerReply,
  type Limits,
  noNotice,
  noticeOverAtMs,
  type SavedHost,
} from '@hostpace/core/stores'
import { type Database, isBusy, openDatabase, type Statement } from './database.ts'
import { type ClockMark, fileTime, type MachineClock } from './machine-clock.ts'

/** How long the process stands still for a lock that another holds; then it goes on and comes back for it. */
const standstillMs = 5

/** How long after its last use a state is kept that says nothing any more. */
const keepMs = 60_000

/** How old the mark gets by which time is told after the machine has started anew. */
const markMs = 1000

/** How many states are kept ready, so that those that nobody else has changed need not be read. */
const mostReady = 1000

/** It says first how long to stand still: all else may meet a lock. */
const schema = `
  PRAGMA busy_timeout = ${standstillMs};
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS hostpace_clock (
    id INTEGER PRIMARY KEY CHECK (id = 1), boot TEXT NOT NULL,
    monotonicMs REAL NOT NULL, wallMs REAL NOT NULL, fileMs REAL NOT NULL);
  CREATE TABLE IF NOT EXISTS hostpace_notice (
    host TEXT PRIMARY KEY, notice TEXT NOT NULL, overAtMs REAL NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS hostpace_state (
    host TEXT NOT NULL, policy TEXT NOT NULL, stamp REAL NOT NULL, state TEXT NOT NULL, overAtMs REAL NOT NULL,
    PRIMARY KEY (host, policy)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS hostpace_state_over ON hostpace_state (overAtMs);`

/** The statements of an open file. */
interface OpenFile {
  readonly db: Database
  readonly mark: Statement
  readonly setMark: Statement
  readonly notice: Statement
  readonly setNotice: Statement
  readonly stamp: Statement
  readonly state: Statement
  readonly setState: Statement
  readonly sweep: readonly Statement[]
}

/** Keeps the credit of hosts in a SQLite file: a call is one `BEGIN IMMEDIATE` transaction. */
export class SqliteLedger implements Ledger {
  readonly #path: string
  readonly #timeoutMs: number
  readonly #clock: MachineClock
  #file: OpenFile | undefined
  #sweptAtMs = Number.NEGATIVE_INFINITY
  /** States as they stand in the file, each with the stamp of its last writing, by host and policy; the oldest first. */
  readonly #ready = new Map<string, { stamp: number; state: HostState }>()
  #isClosed = false

  constructor(path: string, timeoutMs: number, clock: MachineClock) {
    this.#path = path
    this.#timeoutMs = timeoutMs
    this.#clock = clock
  }

  decide(call: LedgerCall): LedgerReply | Promise<LedgerReply> {
    try {
      return this.#transact(call)
    } catch (error) {
      if (!isBusy(error)) throw error
      return this.#comeBack(call, this.#clock.monotonicMs() + this.#timeoutMs)
    }
  }

  close(): void {
    this.#isClosed = true
    this.#forget()
    this.#file?.db.close()
    this.#file = undefined
  }

  /** Another process holds the lock. This one goes on with other things and tries again, a little later each time. */
  async #comeBack(call: LedgerCall, untilMs: number): Promise<LedgerReply> {
    for (let tries = 1; ; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * Math.min(tries, 10)))
      try {
        return this.#transact(call)
      } catch (error) {
        if (!isBusy(error) || this.#clock.monotonicMs() >= untilMs) throw error
      }
    }
  }

  #transact(call: LedgerCall): LedgerReply {
    if (this.#isClosed) throw new Error('The store was closed')
    try {
      const file = this.#open()
      file.db.exec('BEGIN IMMEDIATE')
      const reply = this.#decide(call, file)
      file.db.exec('COMMIT')
      return reply
    } catch (error) {
      this.#undo(error)
      throw error
    }
  }

  #decide(call: LedgerCall, file: OpenFile): LedgerReply {
    const { key, limits } = call
    const nowMs = this.#now(file)
    const notice = this.#noticeOf(key, file)
    const { pauseVersion, learnedVersion } = notice
    const touched = new Map<string, HostState>()
    const stateUnder = (former: Limits) => {
      const state = this.#stateOf(key, former, file)
      if (state !== undefined) touched.set(former.creditName, state)
      return state
    }
    const state = this.#stateOf(key, limits, file) ?? new HostState(limits)
    const reply = state.decide(call, notice, nowMs, stateUnder)
    if (reply.lost === true) return reply
    for (const [policy, other] of touched.set(limits.creditName, state)) {
      this.#write(key, policy, other, file)
    }
    if (notice.pauseVersion !== pauseVersion || notice.learnedVersion !== learnedVersion) {
      file.setNotice.run(key, encodeSaved(notice), noticeOverAtMs(notice) + keepMs)
    }
    this.#sweep(nowMs, file)
    return reply
  }

  #now(file: OpenFile): number {
    const mark = file.mark.get() as ClockMark | undefined
    const now = fileTime(mark, this.#clock)
    const isOld = mark === undefined || mark.boot !== now.boot || now.monotonicMs - mark.monotonicMs >= markMs
    if (isOld || now.monotonicMs < mark.monotonicMs) {
      file.setMark.run(now.boot, now.monotonicMs, now.wallMs, now.fileMs)
    }
    return now.fileMs
  }

  #noticeOf(key: string, file: OpenFile): HostNotice {
    const row = file.notice.get(key) as { notice: string } | undefined
    return row === undefined ? noNotice() : decodeSaved<HostNotice>(row.notice)
  }

  #stateOf(key: string, limits: Limits, file: OpenFile): HostState | undefined {
    const name = `${limits.creditName} ${key}`
    const row = file.stamp.get(key, limits.creditName) as { stamp: number } | undefined
    if (row === undefined) return undefined
    const ready = this.#ready.get(name)
    if (ready?.stamp === row.stamp) return ready.state
    const { state: text } = file.state.get(key, limits.creditName) as { state: string }
    const state = new HostState(limits, decodeSaved<SavedHost>(text))
    this.#keepReady(name, row.stamp, state)
    return state
  }

  #write(key: string, policy: string, state: HostState, file: OpenFile): void {
    const overAtMs = Math.max(state.latestMs, state.recoveredAtMs, state.aliveUntilMs) + keepMs
    // No two writings have the same, also of one that was forgotten and has begun anew.
    const stamp = Math.random()
    file.setState.run(key, policy, stamp, encodeSaved(state.save()), overAtMs)
    this.#keepReady(`${policy} ${key}`, stamp, state)
  }

  #keepReady(name: string, stamp: number, state: HostState): void {
    const former = this.#ready.get(name)
    if (former?.state !== state) this.#drop(name)
    this.#ready.delete(name)
    this.#ready.set(name, { stamp, state })
    if (this.#ready.size > mostReady) this.#drop(this.#ready.keys().next().value as string)
  }

  #sweep(nowMs: number, file: OpenFile): void {
    if (nowMs - this.#sweptAtMs < keepMs) return
    this.#sweptAtMs = nowMs
    for (const statement of file.sweep) statement.run(nowMs)
  }

  /** What was decided and not written is not so: all is read again. After an error other than a lock the file is opened again. */
  #undo(error: unknown): void {
    this.#forget()
    try {
      this.#file?.db.exec('ROLLBACK')
    } catch {
      // There was no transaction, or SQLite has rolled it back itself.
    }
    if (isBusy(error)) return
    try {
      this.#file?.db.close()
    } finally {
      this.#file = undefined
    }
  }

  #drop(name: string): void {
    this.#ready.get(name)?.state.release()
    this.#ready.delete(name)
  }

  #forget(): void {
    for (const name of [...this.#ready.keys()]) this.#drop(name)
  }

  #open(): OpenFile {
    this.#file ??= openFile(this.#path)
    return this.#file
  }
}

function openFile(path: string): OpenFile {
  const db = openDatabase(path)
  try {
    db.exec(schema)
    return {
      db,
      mark: db.prepare('SELECT boot, monotonicMs, wallMs, fileMs FROM hostpace_clock'),
      setMark: db.prepare('INSERT OR REPLACE INTO hostpace_clock VALUES (1, ?, ?, ?, ?)'),
      notice: db.prepare('SELECT notice FROM hostpace_notice WHERE host = ?'),
      setNotice: db.prepare('INSERT OR REPLACE INTO hostpace_notice VALUES (?, ?, ?)'),
      stamp: db.prepare('SELECT stamp FROM hostpace_state WHERE host = ? AND policy = ?'),
      state: db.prepare('SELECT state FROM hostpace_state WHERE host = ? AND policy = ?'),
      setState: db.prepare('INSERT OR REPLACE INTO hostpace_state VALUES (?, ?, ?, ?, ?)'),
      sweep: [
        db.prepare('DELETE FROM hostpace_state WHERE overAtMs < ?'),
        db.prepare('DELETE FROM hostpace_notice WHERE overAtMs < ?'),
      ],
    }
  } catch (error) {
    db.close()
    throw error
  }
}
