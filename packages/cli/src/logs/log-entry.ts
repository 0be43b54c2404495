import { CliError } from '../errors.ts'

/** One request, as a log has it. */
export interface LogEntry {
  /** When it came, in milliseconds since 1970, as the log rounds it down. */
  readonly atMs: number
  /** How fine its stamp is in milliseconds: it came then or less than so much later. */
  readonly resolutionMs: number
  /** Which line of the log it is, or which entry of a HAR, from 1. */
  readonly line: number
  /** Which host was asked, where the log tells. */
  readonly host: string | undefined
  /** The address that it came from, where the log tells. */
  readonly client: string | undefined
  readonly userAgent: string | undefined
}

/** A line of a log that cannot be read. */
export class LineError extends CliError {
  override readonly name = 'LineError'
  /** Where in the line, from 1. */
  readonly column: number | undefined

  constructor(problem: string, column?: number) {
    super(problem)
    this.column = column
  }
}
