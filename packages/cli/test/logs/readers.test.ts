import { describe, expect, test } from 'vitest'
import { readCombined } from '../../src/logs/combined.ts'
import { hostOf } from '../../src/logs/hosts.ts'
import { jsonLinesReader } from '../../src/logs/json-lines.ts'
import { readMoment } from '../../src/logs/moments.ts'

const date = '[10/Oct/2026:13:55:36 +0000]'
const atMs = Date.UTC(2026, 9, 10, 13, 55, 36)

describe('combined log format', () => {
  test.each([
    ['common', `192.0.2.1 - - ${date} "GET / HTTP/1.0" 200 2326`, { client: '192.0.2.1', userAgent: undefined }],
    ['no size', `192.0.2.1 - - ${date} "GET / HTTP/1.0" 304 -`, { client: '192.0.2.1' }],
    ['IPv6', `2001:db8::1 - - ${date} "GET / HTTP/1.0" 200 1 "-" "a"`, { client: '2001:db8::1', userAgent: 'a' }],
    ['a user with spaces', `192.0.2.1 - joe doe ${date} "GET / HTTP/1.0" 200 1 "-" "a"`, { client: '192.0.2.1' }],
    [
      'escaped quotes',
      `192.0.2.1 - - ${date} "GET /\\"[x] HTTP/1.0" 200 1 "\\"" "a \\"b\\" \\\\ \\x41"`,
      { userAgent: 'a "b" \\ A' },
    ],
    ['bytes for a request', `192.0.2.1 - - ${date} "\\x16\\x03" 400 0 "-" "-"`, { client: '192.0.2.1' }],
    [
      'a host in front',
      `A.example:443 192.0.2.1 - - ${date} "GET / HTTP/1.0" 200 1 "-" "a"`,
      { host: 'a.example', client: '192.0.2.1' },
    ],
    [
      'a proxy',
      `192.0.2.1 - - ${date} "GET http://b.example:8080/x HTTP/1.0" 200 1 "-" "a"`,
      { host: 'b.example:8080' },
    ],
    ['more behind', `192.0.2.1 - - ${date} "GET / HTTP/1.0" 200 1 "-" "a" "x" 0.5`, { userAgent: 'a' }],
    [
      'a name for a client',
      `crawler.example - - ${date} "GET / HTTP/1.0" 200 1`,
      { host: undefined, client: 'crawler.example' },
    ],
  ])('%s', (_, text, expected) => {
    expect(readCombined(text, 1)).toMatchObject({ atMs, resolutionMs: 1000, ...expected })
  })

  test('a fraction of the second', () => {
    const text = '192.0.2.1 - - [10/Oct/2026:13:55:36.250 +0000] "GET / HTTP/1.0" 200 1'
    expect(readCombined(text, 1)).toMatchObject({ atMs: atMs + 250, resolutionMs: 1 })
  })
})

describe('moments', () => {
  test.each<[unknown, number | undefined, number?]>([
    ['2026-10-10T13:55:36Z', atMs, 1000],
    ['2026-10-10T13:55:36.25Z', atMs + 250, 10],
    ['2026-10-10 15:55:36,125+0200', atMs + 125, 1],
    ['2026-10-10T13:55:36', atMs, 1000],
    [1_700_000_000, 1_700_000_000_000, 1000],
    [1_700_000_000.123, 1_700_000_000_123, 1],
    ['1700000000.120', 1_700_000_000_120, 1],
    [1_700_000_000_123, 1_700_000_000_123, 1],
    [1_700_000_000_123_456, 1_700_000_000_123.456, 0.001],
    ['1700000000123456789', 1_700_000_000_123.457, 0.001],
    ['2026-02-30T00:00:00Z', undefined],
    ['2026-10-10T24:00:00Z', undefined],
    ['2026-10-10', undefined],
    [Number.NaN, undefined],
    [-1, undefined],
    [null, undefined],
    [{}, undefined],
  ])('%j', (value, expectedMs, resolutionMs) => {
    const expected = expectedMs === undefined ? undefined : { atMs: expectedMs, resolutionMs }
    expect(readMoment(value)).toEqual(expected)
  })
})

test.each([
  ['A.Example', 'a.example'],
  ['a.example.', 'a.example'],
  ['a.example.:443', 'a.example'],
  ['a.example:8080', 'a.example:8080'],
  ['[2001:DB8::1]:443', '[2001:db8::1]'],
  ['2001:DB8:0::80', '[2001:db8::80]'],
  ['https://A.example:8080/x', 'a.example:8080'],
  ['http://BÜCHER.example', 'xn--bcher-kva.example'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['/a', undefined],
  ['a.example/b', undefined],
  ['a b', undefined],
  ['user@a.example', undefined],
  ['ftp://a.example/', undefined],
  ['https://', undefined],
  ['', undefined],
])('the host %s is %s', (text, expected) => {
  expect(hostOf(text)).toBe(expected)
})

test('fields that JSON has for everything are no fields of a record', () => {
  expect(() => jsonLinesReader({ time: 'constructor' }).read('{"a":1}', 1)).toThrow("'constructor'")
})
