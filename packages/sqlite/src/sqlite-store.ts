import { PolicyError, type Store } from '@hostpace/core'
import { SharedStore, type SharedStoreOptions, sharedSettings } from '@hostpace/core/stores'
import { machineClock } from './machine-clock.ts'
import { SqliteLedger } from './sqlite-ledger.ts'

/** Options of `sqliteStore`. */
export interface SqliteStoreOptions extends SharedStoreOptions {
  /** The file, which is made if there is none. SQLite keeps two more beside it (`-wal`, `-shm`). */
  readonly path: string
}

/**
 * Keeps the credit of hosts in a SQLite file, so that all processes of this machine keep one pace together, and a quota
 * or a pause outlives them.
 *
 * It takes the `node:sqlite` of Node 22.5 and later, else `better-sqlite3`. The file has to lie on a disk of this
 * machine: over network file systems SQLite's locks do not hold. It is opened with the first request; a file that cannot
 * be opened, is corrupt or cannot be written to is a failure as `onStoreError` says, and is tried again.
 *
 * @throws {PolicyError} if an option makes no sense; its `path` names it
 */
export function sqliteStore(options: SqliteStoreOptions): Store {
  const { timeoutMs } = sharedSettings(options, ['path'])
  const { path, ...shared } = options
  if (typeof path !== 'string' || path === '' || path === ':memory:') {
    throw new PolicyError('options.path', `must be the path of a file, got ${JSON.stringify(path)}`)
  }
  return new SharedStore(new SqliteLedger(path, timeoutMs, machineClock()), shared)
}
