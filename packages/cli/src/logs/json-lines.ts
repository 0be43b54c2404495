import { parse } from '@humanwhocodes/momoa'
import { jsonProblem } from '../json-problem.ts'
import { hostOf, hostOfUrl } from './hosts.ts'
import { LineError, type LogEntry } from './log-entry.ts'
import { readMoment } from './moments.ts'

/** By which names the fields of a log of JSON lines go; with dots where one is inside another. */
export interface FieldNames {
  readonly time?: string | undefined
  /** Seconds that the request took, taken off a time at which it was over. */
  readonly duration?: string | undefined
  readonly host?: string | undefined
  readonly client?: string | undefined
  readonly userAgent?: string | undefined
}

/** By which options those names are given. */
export const fieldOptions: Readonly<Record<keyof FieldNames, string>> = {
  time: '--time-field',
  duration: '--duration-field',
  host: '--host-field',
  client: '--client-field',
  userAgent: '--agent-field',
}

/** The fields of which a name is given. */
export function givenFields(names: FieldNames): (keyof FieldNames)[] {
  return (Object.keys(fieldOptions) as (keyof FieldNames)[]).filter((field) => names[field] !== undefined)
}

/** Reads JSON lines. */
export interface JsonLinesReader {
  /** @throws {LineError} if it is none, or has no time */
  readonly read: (text: string, line: number) => LogEntry
  /** The names that were given and that no line has had so far. */
  readonly missing: () => (keyof FieldNames)[]
}

/** The names that servers and loggers give to them, the first that is there counts. */
const usual = {
  time: ['time', 'timestamp', '@timestamp', 'ts', 'msec', 'time_iso8601', 'StartUTC', 'date', 'datetime'],
  host: ['host', 'http_host', 'server_name', 'vhost', 'RequestHost', 'request.host', 'req.headers.host'],
  client: ['remote_addr', 'remote_ip', 'client', 'client_ip', 'ip', 'ClientHost', 'request.remote_ip'],
  userAgent: ['http_user_agent', 'user_agent', 'userAgent', 'agent', 'request.headers.User-Agent'],
} as const

/** Servers log no more than the path here, so it counts only where it is a whole URL. */
const usualUrl = 'url'

/**
 * Makes a reader of JSON lines.
 *
 * nginx stamps a line with `msec` when it has answered, and says with `request_time` how long that took: where both are
 * there, the difference is when the request came.
 */
export function jsonLinesReader(names: FieldNames): JsonLinesReader {
  const awaited = new Set(givenFields(names))
  const find = (record: object, field: keyof typeof usual) => {
    const own = names[field]
    return own === undefined ? firstOf(record, usual[field]) : at(record, own)
  }
  const read = (text: string, line: number): LogEntry => {
    const record = parsed(text)
    for (const field of awaited) {
      if (at(record, names[field] as string) !== undefined) awaited.delete(field)
    }
    const moment = readMoment(find(record, 'time'))
    if (moment === undefined) {
      const where = names.time === undefined ? `any of ${usual.time.join(', ')}` : `'${names.time}'`
      throw new LineError(`has no time that can be read in ${where}`, 1)
    }
    const host = textOf(find(record, 'host'))
    const url = names.host === undefined ? textOf(at(record, usualUrl)) : undefined
    return {
      atMs: moment.atMs - durationMs(record, names),
      resolutionMs: moment.resolutionMs,
      line,
      host: (host && hostOf(host)) ?? (url && hostOfUrl(url)),
      client: textOf(find(record, 'client')),
      userAgent: textOf(find(record, 'userAgent')),
    }
  }
  return { read, missing: () => [...awaited] }
}

function durationMs(record: object, { time, duration }: FieldNames): number {
  const isNginx = duration === undefined && (time ?? 'msec') === 'msec' && at(record, 'msec') !== undefined
  const name = duration ?? (isNginx ? 'request_time' : undefined)
  const value = name === undefined ? undefined : at(record, name)
  if (value === undefined) {
    if (duration === undefined) return 0
    throw new LineError(`has no '${duration}'`, 1)
  }
  const seconds = typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value)
  if (!(seconds >= 0 && seconds <= 1e9)) throw new LineError(`has a '${name}' that is no number of seconds`, 1)
  return Math.round(seconds * 1e6) / 1000
}

function parsed(text: string): object {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw whereItBreaks(text)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new LineError('is no JSON object', 1)
}

/** The parser that tells the column is slow, so it sees only what is broken. */
function whereItBreaks(text: string): LineError {
  try {
    parse(text)
  } catch (error) {
    const problem = jsonProblem(error as Error, text)
    return new LineError(`is no JSON: ${problem}`, (error as { column?: number }).column)
  }
  return new LineError('is no JSON', 1)
}

function firstOf(record: object, names: readonly string[]): unknown {
  for (const name of names) {
    const value = at(record, name)
    if (value !== undefined && value !== null && value !== '') return value
  }
  return undefined
}

/** A field by its whole name, or inside others by its parts. A list, as of header lines, stands for its first. */
function at(record: object, name: string): unknown {
  if (Object.hasOwn(record, name)) return (record as Record<string, unknown>)[name]
  if (!name.includes('.')) return undefined
  let value: unknown = record
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Record<string, unknown>)[part]
  }
  return Array.isArray(value) ? value[0] : value
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
