/** A number at the start of a value; what follows it, such as a unit or a remark, is for people. */
const number = String.raw`\+?(\d+(?:[.,]\d*)?|[.,]\d+)`
/** Nobody means ten to a power: where it looks like that it is something else, and so no number. */
const exponent = /\de[+-]?\d/i
const delay = new RegExp(`^${number}`)
const rate = new RegExp(String.raw`^${number}\s*/\s*${number}\s*([smhd])?`, 'i')

const msPerUnit: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * The gap in milliseconds that the value of a `Crawl-delay` asks for: seconds, fractions allowed, behind a point or, as
 * many countries write it, a comma.
 *
 * @returns `undefined` for what asks for none: 0, below 0, not a number, a power of ten such as `1e9`, endless
 */
export function crawlDelayMs(value: string): number | undefined {
  const [, seconds] = numbersOf(value, delay)
  return gap(amount(seconds) * 1000)
}

/**
 * The gap in milliseconds that the value of a `Request-rate` comes to: `requests/time`, where the time is in seconds
 * or has a unit of `s`, `m`, `h` or `d`. A time of day that may follow, at which the rate is to hold, is ignored: the
 * rate holds always.
 *
 * @returns `undefined` for what asks for none
 */
export function requestRateMs(value: string): number | undefined {
  const [, requests, time, unit = 's'] = numbersOf(value, rate)
  return gap((amount(time) * (msPerUnit[unit.toLowerCase()] as number)) / amount(requests))
}

function numbersOf(value: string, form: RegExp): readonly (string | undefined)[] {
  return (exponent.test(value) ? undefined : form.exec(value)) ?? []
}

function amount(text: string | undefined): number {
  return Number(text?.replace(',', '.'))
}

/** A gap that a pacer takes. More than 285,000 years are as good as that. */
function gap(ms: number): number | undefined {
  return ms > 0 && ms !== Number.POSITIVE_INFINITY ? Math.min(ms, Number.MAX_SAFE_INTEGER) : undefined
}
