import { InputError, type Place } from '../errors.ts'
import type { Io } from '../io.ts'
import { readCombined } from './combined.ts'
import { readHar } from './har.ts'
import { type FieldNames, fieldOptions, givenFields, jsonLinesReader } from './json-lines.ts'
import { linesOf } from './lines.ts'
import { LineError, type LogEntry } from './log-entry.ts'
import { openInput } from './open-input.ts'
import { prepended } from './prepended.ts'

export const logFormats = ['auto', 'combined', 'jsonl', 'har'] as const
export type LogFormat = (typeof logFormats)[number]

export interface LogOptions {
  /** @default 'auto' */
  readonly format?: LogFormat | undefined
  readonly fields?: FieldNames | undefined
  /** Whether lines, or entries of a HAR, that cannot be read are left out in place of being an error. @default false */
  readonly skipUnreadable?: boolean | undefined
}

/** A log that is being read. */
export interface Log {
  /** `auto` until the first line has told. */
  readonly format: LogFormat
  /** How many lines or entries were left out so far. */
  readonly unreadable: number
  /** The requests in the order in which they stand there, several at a time. */
  readonly entries: AsyncIterable<readonly LogEntry[]>
}

/**
 * Reads a log piece by piece.
 *
 * @param path a file, or `-` for the standard input
 */
export function readLog(path: string, options: LogOptions, io: Io): Log {
  const file = path === '-' ? 'stdin' : path
  return readLogLines(linesOf(openInput(path, io), file), file, options)
}

/** Reads a log that has been split into lines already. */
export function readLogLines(lines: AsyncIterable<readonly string[]>, file: string, options: LogOptions): Log {
  const log = { format: options.format ?? 'auto', unreadable: 0, entries: entriesOf() }
  return log

  async function* entriesOf(): AsyncGenerator<readonly LogEntry[]> {
    const batches = withoutMark(lines)
    const first = await firstWithText(batches)
    if (log.format === 'auto') log.format = formatOf(first)
    const whole = prepended(first, batches)
    const { fields = {} } = options
    if (log.format !== 'jsonl') refuseFields(fields, log.format, file)
    if (log.format === 'har') return yield* readHar(whole, file, leaveOut)
    const jsonLines = log.format === 'jsonl' ? jsonLinesReader(fields) : undefined
    const read = jsonLines?.read ?? readCombined
    let line = 0
    for await (const batch of whole) {
      const entries: LogEntry[] = []
      for (const text of batch) {
        line++
        const entry = text.trim() === '' ? undefined : attempt(read, text, line)
        if (entry !== undefined) entries.push(entry)
      }
      yield entries
    }
    for (const field of jsonLines?.missing() ?? []) {
      throw new InputError({ file }, `has no '${fields[field]}' in any line, which ${fieldOptions[field]} names`)
    }
  }

  function leaveOut(place: Place, problem: string): void {
    if (options.skipUnreadable !== true) throw new InputError(place, problem)
    log.unreadable++
  }

  function attempt(read: (text: string, line: number) => LogEntry, text: string, line: number): LogEntry | undefined {
    try {
      return read(text, line)
    } catch (error) {
      if (!(error instanceof LineError)) throw error
      leaveOut({ file, line, column: error.column }, error.message)
      return undefined
    }
  }
}

function refuseFields(fields: FieldNames, format: LogFormat, file: string): void {
  for (const field of givenFields(fields)) {
    throw new InputError({ file }, `is read as ${format}, and ${fieldOptions[field]} is for JSON lines`)
  }
}

type Batches = AsyncGenerator<readonly string[]>

async function* withoutMark(lines: AsyncIterable<readonly string[]>): Batches {
  let isFirst = true
  for await (const batch of lines) {
    yield isFirst ? batch.map((line, index) => (index === 0 ? line.replace(/^\uFEFF/, '') : line)) : batch
    isFirst = false
  }
}

/** The first lines of a log, up to one that says something. */
async function firstWithText(batches: Batches): Promise<readonly string[]> {
  const lines: string[] = []
  while (!lines.some((line) => line.trim() !== '')) {
    const { done, value } = await batches.next()
    if (done) break
    lines.push(...value)
  }
  return lines
}

/** A HAR is one object over several lines, or one that begins with `log`. */
function formatOf(lines: readonly string[]): LogFormat {
  const first = lines.find((line) => line.trim() !== '')?.trim() ?? ''
  if (!first.startsWith('{')) return 'combined'
  return /^\{\s*(?:$|"log"\s*:\s*(?:\{|$))/.test(first) ? 'har' : 'jsonl'
}
