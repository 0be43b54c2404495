import type { Readable } from 'node:stream'

/** What a command reads from and writes to, beside files and hosts. */
export interface Io {
  readonly stdin: Readable
  /** Writes what was asked for. */
  out(text: string): void
  /** Writes what is said beside it: errors and progress. */
  err(text: string): void
  /** Whether `err` is a terminal, in which a line can be written over. */
  readonly errIsTerminal: boolean
  /** How many characters fit in a line of `out`. */
  readonly columns: number
}
