import { JSONParser } from '@streamparser/json'
import { InputError, type Place } from '../errors.ts'
import { hostOfUrl } from './hosts.ts'
import type { LogEntry } from './log-entry.ts'
import { readMoment } from './moments.ts'

/**
 * Reads a HAR (HTTP Archive 1.2) piece by piece; no more than one of its entries is kept at a time. The line of an entry is
 * its number, from 1, since a HAR is often one line. What a browser's cache answered did not reach the host and is left out.
 *
 * @param leaveOut what to do about an entry without a moment
 * @throws {InputError} that names the line and, where there is one, the column
 */
export async function* readHar(
  lines: AsyncIterable<readonly string[]>,
  file: string,
  leaveOut: (place: Place, problem: string) => void,
): AsyncGenerator<LogEntry[]> {
  let entries: LogEntry[] = []
  let number = 0
  let problem: Error | undefined
  let line = 0
  /** Where the line and the last token begin, in bytes from the start of the file. */
  let [lineAt, tokenAt] = [0, 0]
  const parser = new JSONParser({ paths: ['$.log.entries.*'], keepStack: false })
  parser.onToken = ({ offset }) => {
    tokenAt = offset
  }
  parser.onValue = ({ value }) => {
    number++
    const entry = entryOf(value, number)
    if (entry === 'undated') leaveOut({ file, line }, `entry ${number} has no startedDateTime that can be read`)
    else if (entry !== undefined) entries.push(entry)
  }
  parser.onError = (error) => {
    problem ??= error
  }
  const feed = (text: string) => {
    if (!(parser.isEnded && text.trim() === '')) parser.write(text)
    if (problem === undefined) return
    if (problem instanceof InputError) throw problem
    // What is no token the parser places by itself, a token out of place it does not.
    const inLine = Number(/chunk position "(\d+)"/.exec(problem.message)?.[1] ?? tokenAt - lineAt)
    const column = Buffer.from(text).toString('utf8', 0, inLine).length + 1
    throw new InputError({ file, line, column }, `is no HAR: ${withoutState(problem.message)}`)
  }
  for await (const batch of lines) {
    for (const text of batch) {
      line++
      feed(`${text}\n`)
      lineAt += Buffer.byteLength(text) + 1
    }
    if (entries.length > 0) yield entries
    entries = []
  }
  if (!parser.isEnded) throw new InputError({ file, line }, 'ends in the middle of a HAR')
  if (number === 0) throw new InputError({ file }, 'has no entries; a HAR has them in log.entries')
}

/** What the parser found, without its name for that, its state and a place that tells nobody anything. */
function withoutState(message: string): string {
  return message.replace(/ at chunk position.*/, '').replace(/[A-Z_]+ \((.*)\) in state \w+$/, '$1')
}

function entryOf(value: unknown, number: number): LogEntry | 'undated' | undefined {
  const entry = objectOf(value)
  const request = objectOf(entry.request)
  const moment = typeof entry.startedDateTime === 'string' ? readMoment(entry.startedDateTime) : undefined
  const host = typeof request.url === 'string' ? hostOfUrl(request.url) : undefined
  if (moment === undefined) return 'undated'
  // Data, blobs and extensions of the browser are no requests to a host.
  if (host === undefined || wasCached(entry)) return undefined
  return { ...moment, line: number, host, client: undefined, userAgent: userAgentOf(request.headers) }
}

function wasCached(entry: Record<string, unknown>): boolean {
  return entry._fromCache !== undefined || objectOf(entry.response)._fromDiskCache === true
}

function userAgentOf(headers: unknown): string | undefined {
  if (!Array.isArray(headers)) return undefined
  for (const header of headers.map(objectOf)) {
    const { name, value } = header
    if (typeof name === 'string' && name.toLowerCase() === 'user-agent' && typeof value === 'string') return value
  }
  return undefined
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
