const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** `Sun, 06 Nov 1994 08:49:37 GMT` */
const imfFixdate = /^\w{3}, (\d{2}) (\w{3}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/
/** `Sunday, 06-Nov-94 08:49:37 GMT` */
const rfc850Date = /^\w{6,9}, (\d{2})-(\w{3})-(\d{2}) (\d{2}):(\d{2}):(\d{2}) GMT$/
/** `Sun Nov  6 08:49:37 1994` */
const asctimeDate = /^\w{3} (\w{3}) ([ \d]\d) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/

/**
 * Reads an HTTP-date in any of the three forms of RFC 9110 section 5.6.7, always as UTC.
 *
 * A two-digit year that lies more than 50 years ahead of `wallNowMs` is one of the past century.
 *
 * @returns milliseconds since 1970, or `undefined` for anything else
 */
export function parseHttpDate(text: string, wallNowMs: number): number | undefined {
  const fixdate = imfFixdate.exec(text)
  if (fixdate !== null) return utc(fixdate[3], fixdate[2], fixdate[1], fixdate.slice(4))
  const rfc850 = rfc850Date.exec(text)
  if (rfc850 !== null) return utc(fullYear(Number(rfc850[3]), wallNowMs), rfc850[2], rfc850[1], rfc850.slice(4))
  const asctime = asctimeDate.exec(text)
  if (asctime !== null) return utc(asctime[6], asctime[1], asctime[2], asctime.slice(3, 6))
  return undefined
}

function fullYear(twoDigits: number, wallNowMs: number): string {
  const thisYear = new Date(wallNowMs).getUTCFullYear()
  const year = Math.floor(thisYear / 100) * 100 + twoDigits
  return String(year > thisYear + 50 ? year - 100 : year)
}

function utc(year = '', monthName = '', day = '', time: readonly string[] = []): number | undefined {
  const month = months.indexOf(monthName.toLowerCase())
  const [hours = 0, minutes = 0, seconds = 0] = time.map(Number)
  const midnightMs = Date.UTC(Number(year), month, Number(day))
  // 31 February would become a day of March; a date that does not read back as it was written is none.
  const isReal = month >= 0 && new Date(midnightMs).getUTCDate() === Number(day)
  // A leap second is the 61st of its minute.
  if (!isReal || hours > 23 || minutes > 59 || seconds > 60) return undefined
  return midnightMs + ((hours * 60 + minutes) * 60 + seconds) * 1000
}
