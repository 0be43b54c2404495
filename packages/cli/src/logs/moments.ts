/** A moment as a log writes it: rounded down to `resolutionMs`. */
export interface Moment {
  /** Milliseconds since 1970. */
  readonly atMs: number
  readonly resolutionMs: number
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** `10/Oct/2000:13:55:36 -0700`, and with a fraction of the second, as Apache can have it. */
const logDate = /^(\d{2})\/(\w{3})\/(\d{4}):(\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,9}))? ([+-])(\d{2})(\d{2})$/

/** RFC 3339, also with a space or without an offset, which is then UTC. */
const isoDate =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,9}))?\s*(?:[Zz]|UTC|([+-])(\d{2}):?(\d{2}))?$/

const epoch = /^(\d{1,19})(?:\.(\d{1,9})\d*)?$/

/** Reads the date of the common log format. @returns `undefined` for anything else */
export function readLogDate(text: string): Moment | undefined {
  const [, day, monthName = '', year, hours, minutes, seconds, fraction, sign, ...offset] = logDate.exec(text) ?? []
  const month = months.indexOf(monthName.toLowerCase()) + 1
  return moment([year, month, day, hours, minutes, seconds], fraction, sign, offset)
}

/**
 * Reads a date of RFC 3339, or a number: seconds since 1970 below 1e11, milliseconds below 1e14, microseconds below 1e17,
 * else nanoseconds.
 *
 * How fine it is tell its digits; a number that has lost its last zeros looks coarser than it is.
 *
 * @returns `undefined` for anything else
 */
export function readMoment(value: unknown): Moment | undefined {
  const text = typeof value === 'number' ? plainNumber(value) : value
  if (typeof text !== 'string') return undefined
  const [, whole, fraction] = epoch.exec(text) ?? []
  if (whole !== undefined) return epochMoment(Number(whole), fraction)
  const [, year, month, day, hours, minutes, seconds, digits, sign, ...offset] = isoDate.exec(text) ?? []
  return moment([year, month, day, hours, minutes, seconds], digits, sign, offset)
}

function epochMoment(whole: number, fraction: string | undefined): Moment {
  const unitMs = whole < 1e11 ? 1000 : whole < 1e14 ? 1 : whole < 1e17 ? 1e-3 : 1e-6
  const digits = fraction?.length ?? 0
  // Finer than a microsecond is more than a number of milliseconds since 1970 can hold.
  const atMs = Math.round((whole + Number(`0.${fraction ?? 0}`)) * unitMs * 1000) / 1000
  return { atMs, resolutionMs: Math.max(1e-3, unitMs / 10 ** digits) }
}

function moment(
  parts: readonly (string | number | undefined)[],
  fraction: string | undefined,
  sign: string | undefined,
  offset: readonly (string | undefined)[],
): Moment | undefined {
  if (parts[0] === undefined) return undefined
  const [year, month, day, hours, minutes, seconds] = parts.map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const [offsetHours, offsetMinutes] = offset.map((part) => Number(part ?? 0)) as [number, number]
  const midnightMs = Date.UTC(year, month - 1, day)
  // 31 February would become a day of March. A leap second is the 61st of its minute.
  const isReal = month >= 1 && month <= 12 && new Date(midnightMs).getUTCDate() === day
  if (!isReal || hours > 23 || minutes > 59 || seconds > 60 || offsetHours > 23 || offsetMinutes > 59) return undefined
  const offsetMs = (sign === '-' ? -1 : 1) * (offsetHours * 60 + offsetMinutes) * 60_000
  const fractionMs = Math.floor(Number(`0.${fraction ?? 0}`) * 1e6 + 1e-3) / 1000
  const atMs = midnightMs + ((hours * 60 + minutes) * 60 + seconds) * 1000 + fractionMs - offsetMs
  return { atMs, resolutionMs: Math.max(1e-3, 1000 / 10 ** (fraction?.length ?? 0)) }
}

/** A number in its shortest form, without an exponent. */
function plainNumber(value: number): string {
  const text = String(value)
  return text.includes('e') && Number.isFinite(value) ? value.toFixed(9) : text
}
