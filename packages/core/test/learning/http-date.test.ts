import { expect, test } from 'vitest'
import { parseHttpDate } from '../../src/learning/http-date.ts'

const now = Date.UTC(2026, 0, 1)
const moment = Date.UTC(1994, 10, 6, 8, 49, 37)

test.each<[string, number | undefined]>([
  ['Sun, 06 Nov 1994 08:49:37 GMT', moment],
  ['Sunday, 06-Nov-94 08:49:37 GMT', moment],
  ['Sun Nov  6 08:49:37 1994', moment],
  ['Sun Nov 16 08:49:37 1994', Date.UTC(1994, 10, 16, 8, 49, 37)],
  // Two digits of a year are one of this century unless that is more than 50 years ahead.
  ['Thursday, 01-Jan-76 00:00:00 GMT', Date.UTC(2076, 0, 1)],
  ['Thursday, 01-Jan-77 00:00:00 GMT', Date.UTC(1977, 0, 1)],
  ['Thu, 31 Dec 1998 23:59:60 GMT', Date.UTC(1999, 0, 1)],
  ['Sat, 29 Feb 2020 00:00:00 GMT', Date.UTC(2020, 1, 29)],
  ['Sun, 29 Feb 2021 00:00:00 GMT', undefined],
  ['Sun, 31 Nov 1994 08:49:37 GMT', undefined],
  ['Sun, 00 Nov 1994 08:49:37 GMT', undefined],
  ['Sun, 06 Nov 1994 24:00:00 GMT', undefined],
  ['Sun, 06 Nov 1994 08:60:00 GMT', undefined],
  ['Sun, 06 Nov 1994 08:49:61 GMT', undefined],
  ['Sun, 06 Xxx 1994 08:49:37 GMT', undefined],
  ['Sun, 06 Nov 1994 08:49:37 PST', undefined],
  ['Sun, 06 Nov 1994 08:49:37', undefined],
  ['Sun, 6 Nov 1994 08:49:37 GMT', undefined],
  ['1994', undefined],
  ['120', undefined],
  ['-3', undefined],
  ['', undefined],
])('%o', (text, expected) => {
  expect(parseHttpDate(text, now)).toBe(expected)
})
