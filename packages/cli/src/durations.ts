import { CliError } from './errors.ts'

const unitsMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const written = /^(\d+(?:\.\d+)?|\.\d+)(ms|s|m|h|d)?$/

/**
 * Reads a time such as `500ms`, `2s`, `1.5m`, `1h` or `1d`; a bare number is milliseconds.
 *
 * @returns milliseconds, 0 or more; `undefined` for anything else
 */
export function readDuration(text: string): number | undefined {
  const [, number, unit = 'ms'] = written.exec(text) ?? []
  const ms = Number(number) * unitsMs[unit as keyof typeof unitsMs]
  return ms <= Number.MAX_SAFE_INTEGER ? ms : undefined
}

/**
 * Reads the value of an option that is a time.
 *
 * @throws {CliError} that names the option
 */
export function durationOption(name: string, text: string, leastMs = 0): number {
  const ms = readDuration(text)
  if (ms !== undefined && ms >= leastMs) return ms
  const least = leastMs > 0 ? ` of at least ${showDuration(leastMs)}` : ''
  throw new CliError(`${name} must be a time${least} such as 500ms, 2s, 5m, 1h or 1d, got '${text}'`)
}

/** A time as a person would write it: in the largest unit of which it is a whole number, else in seconds or milliseconds. */
export function showDuration(ms: number): string {
  const whole = (['d', 'h', 'm'] as const).find((unit) => ms > 0 && ms % unitsMs[unit] === 0)
  const unit = whole ?? (ms >= 1000 ? 's' : 'ms')
  return `${rounded(ms / unitsMs[unit])} ${unit}`
}

/** A number with three decimals at the most. */
export function rounded(value: number): number {
  return Math.round(value * 1000) / 1000
}
