import type { HeaderEntries } from '../headers.ts'
import { parseHttpDate } from './http-date.ts'

const seconds = /^\d+(?:\.\d+)?$/

/** From here on a number is a moment and no longer a delay; see the cases that some platforms put an epoch here. */
const leastEpochSeconds = 1e9

/**
 * Reads `Retry-After` (RFC 9110 section 10.2.3): seconds, or an HTTP-date in any of its three forms.
 *
 * Decimals count, as some servers send them. Several values mean the longest. A number of 1e9 or more is
 * a moment in epoch seconds, unless that moment is so far off that it can only be meant as a delay. A
 * moment is compared with the response's own `Date`, as long as no cache has kept the response (`Age`),
 * else with the clock of this machine.
 *
 * @returns milliseconds, 0 for what is over, `undefined` if there is none that can be read
 */
export function parseRetryAfter(headers: HeaderEntries, wallNowMs: number): number | undefined {
  const lines = headers.get('retry-after')
  if (lines === undefined) return undefined
  const sentAtMs = serverTime(headers, wallNowMs)
  const waits = splitList(lines).flatMap((value) => parseValue(value, sentAtMs) ?? [])
  return waits.length === 0 ? undefined : Math.max(...waits)
}

/** When the server sent the response, on its own clock where it tells. */
export function serverTime(headers: HeaderEntries, wallNowMs: number): number {
  const isCached = splitList(headers.get('age') ?? '').some((age) => Number(age) > 0)
  const date = headers.get('date')
  const dateMs = isCached || date === undefined ? undefined : parseHttpDate(date.trim(), wallNowMs)
  // Where both agree, this machine knows the fraction of the second as well.
  const agrees = dateMs === undefined || (dateMs <= wallNowMs && wallNowMs < dateMs + 1000)
  return agrees ? wallNowMs : dateMs
}

/** Splits at commas, but not at the one within a date. */
function splitList(line: string): string[] {
  return line.split(/,(?!\s\d{2}[\s-])/).map((value) => value.trim())
}

function parseValue(value: string, sentAtMs: number): number | undefined {
  if (!seconds.test(value)) {
    const dateMs = parseHttpDate(value, sentAtMs)
    return dateMs === undefined ? undefined : Math.max(0, dateMs - sentAtMs)
  }
  const number = Number(value)
  if (!Number.isFinite(number * 1000)) return undefined
  return number >= leastEpochSeconds && number < 9e9 ? Math.max(0, number * 1000 - sentAtMs) : number * 1000
}
