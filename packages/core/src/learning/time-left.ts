import { parseHttpDate } from './http-date.ts'

/** `1m30s`, `500ms`, `2m30.5s`; each unit once, from the largest down. */
const duration =
  /^(?:(\d+(?:\.\d+)?)d)?(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/

const durationUnitsMs = [86_400_000, 3_600_000, 60_000, 1_000, 1]

/** RFC 3339, where some leave the seconds out. */
const timestamp = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:\d{2})$/

const plainNumber = /^\d+(?:\.\d+)?$/

/**
 * Reads how much time a header says is left: seconds, a moment in epoch seconds or epoch milliseconds,
 * a duration such as `1m30s`, or an RFC 3339 or HTTP date.
 *
 * Numbers are told apart by magnitude: below 1e9 seconds left, below 1e11 epoch seconds, below 1e14
 * epoch milliseconds.
 *
 * @param wallNowMs the wall clock by which moments are meant
 * @returns milliseconds, 0 for what is over, `undefined` for what cannot be read
 */
export function parseTimeLeft(text: string, wallNowMs: number): number | undefined {
  const value = text.trim()
  if (plainNumber.test(value)) return fromNumber(Number(value), wallNowMs)
  const parts = value === '' ? null : duration.exec(value)
  if (parts !== null) {
    return parts.slice(1).reduce((sum, part, unit) => sum + Number(part ?? 0) * (durationUnitsMs[unit] as number), 0)
  }
  const moment = timestamp.test(value) ? Date.parse(value) : parseHttpDate(value, wallNowMs)
  return moment === undefined || Number.isNaN(moment) ? undefined : Math.max(0, moment - wallNowMs)
}

/** Seconds in milliseconds, free of the error that a product of decimals has: 64.57 s are 64570 ms. */
export function msOf(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e3
}

function fromNumber(value: number, wallNowMs: number): number | undefined {
  if (value < 1e9) return msOf(value)
  if (value < 1e11) return Math.max(0, msOf(value) - wallNowMs)
  return value < 1e14 ? Math.max(0, value - wallNowMs) : undefined
}
