import { createRequire } from 'node:module'

/** What is used of a database: `node:sqlite` and `better-sqlite3` agree on it. */
export interface Database {
  exec(sql: string): unknown
  prepare(sql: string): Statement
  close(): void
}

/** A prepared statement. */
export interface Statement {
  get(...values: readonly (string | number)[]): unknown
  run(...values: readonly (string | number)[]): unknown
}

type DatabaseClass = new (path: string) => Database

let found: DatabaseClass | undefined

/**
 * Opens a database with what Node brings along, else with `better-sqlite3`.
 *
 * @throws {Error} if there is neither, or if the file cannot be opened
 */
export function openDatabase(path: string): Database {
  found ??= builtIn() ?? installed()
  return new found(path)
}

/** Whether another process holds the lock at this moment. */
export function isBusy(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  // SQLITE_BUSY and SQLITE_LOCKED; extended codes hold them in the lowest byte.
  if (typeof errcode === 'number') return (errcode & 0xff) === 5 || (errcode & 0xff) === 6
  return typeof code === 'string' && /^SQLITE_(BUSY|LOCKED)/.test(code)
}

/** Node has `node:sqlite` from 22.5 on. */
function builtIn(): DatabaseClass | undefined {
  const sqlite = process.getBuiltinModule?.('node:sqlite') as { DatabaseSync?: DatabaseClass } | undefined
  return sqlite?.DatabaseSync
}

function installed(): DatabaseClass {
  try {
    return createRequire(import.meta.url)('better-sqlite3') as DatabaseClass
  } catch (cause) {
    throw new Error(
      'There is no SQLite: this Node has no node:sqlite (22.5 and later have), so install better-sqlite3',
      {
        cause,
      },
    )
  }
}
