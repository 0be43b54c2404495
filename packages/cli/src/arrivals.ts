import { parseRate } from '@hostpace/core'
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { readDuration } from './durations.ts'
import { CliError, InputError } from './errors.ts'
import type { Io } from './io.ts'
import { linesOf } from './logs/lines.ts'
import { readMoment } from './logs/moments.ts'
import { openInput } from './logs/open-input.ts'
import { prepended } from './logs/prepended.ts'
import { readLogLines } from './logs/read-log.ts'

export interface ArrivalOptions {
  /** How long a random arrival goes on, in milliseconds. */
  readonly spanMs: number
  /** What random numbers start from, a whole number. */
  readonly seed: number
}

const mostArrivals = 1_000_000
const atOnce = /^(\d+)@(.+)$/
const random = /^poisson:(.+)$/

/**
 * Reads when requests are asked for: `40@0` (forty at once), `40@0,10@5s`, `poisson:5/s`, or a file. A file has a time in
 * each line (`1.5s`), or a date of RFC 3339, or is a log whose stamps are taken.
 *
 * @returns milliseconds from the start, in order
 * @throws {CliError} if it is none of these, or has more than a million
 * @throws {PolicyError} if a rate is none
 */
export async function readArrivals(text: string, options: ArrivalOptions, io: Io): Promise<number[]> {
  const [, rate] = random.exec(text) ?? []
  if (rate !== undefined) return poisson(perSecond(rate), options)
  const parts = text.split(',').map((part) => atOnce.exec(part.trim()))
  if (parts.every((part) => part !== null)) return crowds(parts)
  const arrivals = sorted(await fromFile(text, io))
  if (arrivals.length === 0) throw new InputError({ file: text }, 'has no arrivals')
  return arrivals
}

function perSecond(rate: string): number {
  const number = Number(rate)
  return parseRate(Number.isNaN(number) ? rate : number, '--arrivals poisson:')
}

/** Independent arrivals: the gaps between them are exponentially distributed. */
function poisson(perSecond: number, { spanMs, seed }: ArrivalOptions): number[] {
  const generator = xoroshiro128plus(seed)
  const arrivals: number[] = []
  let atMs = 0
  for (;;) {
    // The logarithm of 0 is no time.
    atMs -= (Math.log(1 - uniformFloat64(generator)) * 1000) / perSecond
    if (atMs >= spanMs) return arrivals
    arrivals.push(atMs)
    checkCount(arrivals.length)
  }
}

function crowds(parts: readonly RegExpExecArray[]): number[] {
  const arrivals: number[] = []
  for (const [whole, count = '', at = ''] of parts) {
    const atMs = readDuration(at)
    if (atMs === undefined) throw new CliError(`--arrivals: '${whole}' must be like 40@0 or 10@5s`)
    checkCount(arrivals.length + Number(count))
    for (let index = 0; index < Number(count); index++) arrivals.push(atMs)
  }
  if (arrivals.length === 0) throw new CliError('--arrivals must have one request at least')
  return sorted(arrivals)
}

async function fromFile(path: string, io: Io): Promise<number[]> {
  const lines = linesOf(openInput(path, io), path)
  const first = await lines.next()
  const whole = prepended(first.done ? [] : first.value, lines)
  const opening = first.done ? '' : (first.value.find((line) => line.trim() !== '') ?? '').trim()
  if (readDuration(opening) !== undefined) return timesOf(whole, path, readDuration, 'time such as 1.5s')
  if (readDate(opening) !== undefined) {
    return fromFirst(await timesOf(whole, path, readDate, 'date such as 2000-10-10T13:55:36Z'))
  }
  if (opening !== '' && !/[{[]/.test(opening)) throw new InputError({ file: path }, unknownLine(opening))
  return fromFirst(await stampsOf(whole, path))
}

function unknownLine(text: string): string {
  return `must have times (1.5s), dates (2000-10-10T13:55:36Z) or lines of a log, got '${text.slice(0, 40)}'`
}

function readDate(text: string): number | undefined {
  return readMoment(text)?.atMs
}

async function timesOf(
  batches: AsyncIterable<readonly string[]>,
  file: string,
  read: (text: string) => number | undefined,
  expected: string,
): Promise<number[]> {
  const times: number[] = []
  let line = 0
  for await (const batch of batches) {
    for (const text of batch) {
      line++
      if (text.trim() === '') continue
      const ms = read(text.trim())
      if (ms === undefined)
        throw new InputError({ file, line, column: 1 }, `must be a ${expected}, got '${text.slice(0, 40)}'`)
      times.push(ms)
      checkCount(times.length)
    }
  }
  return times
}

async function stampsOf(batches: AsyncIterable<readonly string[]>, file: string): Promise<number[]> {
  const stamps: number[] = []
  for await (const entries of readLogLines(batches, file, {}).entries) {
    for (const { atMs } of entries) stamps.push(atMs)
    checkCount(stamps.length)
  }
  return stamps
}

/** Moments as times from the first of them on. */
function fromFirst(moments: readonly number[]): number[] {
  const firstMs = moments.reduce((least, moment) => Math.min(least, moment), Number.POSITIVE_INFINITY)
  return moments.map((moment) => moment - firstMs)
}

function sorted(times: number[]): number[] {
  return times.sort((a, b) => a - b)
}

function checkCount(count: number): void {
  if (count > mostArrivals) throw new CliError(`--arrivals must not be more than ${mostArrivals}`)
}
