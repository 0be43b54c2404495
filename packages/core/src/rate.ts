import { positiveNumber, show } from './checks.ts'
import { PolicyError } from './errors.ts'

/**
 * How many requests in how long: `'10r/s'`, `'100r/m'`, `'1000r/h'`, `'5000r/d'` (the `r` may be
 * left out), or a number of requests per second.
 */
export type Rate = string | number

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

const written = /^\s*(\d+(?:\.\d+)?)\s*r?\s*\/\s*([smhd])\s*$/i

/**
 * Reads a rate.
 *
 * @returns requests per second
 * @throws {PolicyError} if it is not written as above or is not above 0
 */
export function parseRate(rate: Rate, path = 'rate'): number {
  return 1000 / msPerRequest(rate, path)
}

/** Milliseconds from one request to the next at this rate; exact where the rate is (`'80r/m'` is 750). */
export function msPerRequest(rate: Rate, path = 'rate'): number {
  if (typeof rate === 'number') return shortEnough(1000 / positiveNumber(rate, path), rate, path)
  const [, count, unit] = (typeof rate === 'string' && written.exec(rate)) || []
  if (count === undefined || unit === undefined) {
    throw new PolicyError(path, `must be written like '10r/s', '100r/m' or a number per second, got ${show(rate)}`)
  }
  return shortEnough((unitMs[unit.toLowerCase()] as number) / positiveNumber(Number(count), path), rate, path)
}

function shortEnough(gapMs: number, rate: Rate, path: string): number {
  if (gapMs <= Number.MAX_SAFE_INTEGER) return gapMs
  throw new PolicyError(path, `must let a request go within ${Number.MAX_SAFE_INTEGER} ms, got ${show(rate)}`)
}
