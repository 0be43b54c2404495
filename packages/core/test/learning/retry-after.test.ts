import { isMainThread } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import { type HeaderCarrier, parseRateLimit } from '../../src/index.ts'

function parseRetryAfter(headers: HeaderCarrier, receivedAtMs: number): number | undefined {
  return parseRateLimit(headers, { receivedAtMs }).retryAfterMs
}

const now = Date.UTC(2015, 9, 21, 7, 27, 30)

const table: [string, number | undefined][] = [
  ['120', 120_000],
  ['0', 0],
  ['-5', undefined],
  ['+3', undefined],
  ['1.5', 1500],
  ['2.0', 2000],
  ['', undefined],
  ['soon', undefined],
  ['120s', undefined],
  ['²', undefined],
  ['1.', undefined],
  ['.5', undefined],
  ['1 2', undefined],
  ['Wed, 21 Oct 2015 07:28:00 GMT', 30_000],
  ['Wed, 21 Oct 2015 06:28:00 GMT', 0],
  ['Wednesday, 21-Oct-15 07:28:00 GMT', 30_000],
  ['Wed Oct 21 07:28:00 2015', 30_000],
  ['5, 30', 30_000],
  ['30,5', 30_000],
  ['5, soon', 5000],
  ['Wed, 21 Oct 2015 07:28:00 GMT, 10', 30_000],
  ['10, Wed, 21 Oct 2015 07:28:00 GMT', 30_000],
  ['Wednesday, 21-Oct-15 07:28:00 GMT, Wed, 21 Oct 2015 07:28:30 GMT', 60_000],
  ['Infinity', undefined],
  ['NaN', undefined],
  ['0x10', undefined],
  ['1e3', undefined],
  ['2592000', 2_592_000_000],
  ['9999999999', 9_999_999_999_000],
  ['9'.repeat(400), undefined],
  ['2015-10-21T07:28:00Z', undefined],
]

describe('C02: Retry-After is read as RFC 9110 says, and never as anything else', () => {
  // The test run as a whole is in one zone, so the zone is changed under way: dates without one mean UTC. In a
  // worker thread, as mutants are tested in, it cannot be.
  test.runIf(isMainThread).each([
    ['UTC', 0],
    ['Asia/Tokyo', -540],
    ['America/New_York', 240],
  ])('in %s', (zone, offsetMinutes) => {
    const before = process.env.TZ
    process.env.TZ = zone
    try {
      expect(new Date(now).getTimezoneOffset()).toBe(offsetMinutes)
      for (const [value, expected] of table)
        expect(parseRetryAfter({ 'retry-after': value }, now), value).toBe(expected)
    } finally {
      if (before === undefined) delete process.env.TZ
      else process.env.TZ = before
    }
  })
})

test('C03: an epoch in Retry-After is a moment', () => {
  expect(parseRetryAfter({ 'retry-after': '1700000060' }, 1_700_000_000_000)).toBe(60_000)
  expect(parseRetryAfter({ 'retry-after': '1699999990' }, 1_700_000_000_000)).toBe(0)
  expect(parseRetryAfter({ 'retry-after': '2200000000' }, 2_199_999_940_000)).toBe(60_000)
  expect(parseRetryAfter({ 'retry-after': '999999999' }, 1_700_000_000_000)).toBe(999_999_999_000)
})

describe('a moment is compared with the time of the response', () => {
  const retryAfter = 'Wed, 21 Oct 2015 07:28:00 GMT'
  test.each<[string, Record<string, string>, number]>([
    ['its Date, however wrong this clock is', { date: 'Wed, 21 Oct 2015 07:27:50 GMT' }, 10_000],
    ['this clock where a cache kept it', { date: 'Wed, 21 Oct 2015 07:27:50 GMT', age: '7' }, 30_000],
    ['its Date where it is fresh', { date: 'Wed, 21 Oct 2015 07:27:50 GMT', age: '0' }, 10_000],
    ['this clock where its Date cannot be read', { date: 'today' }, 30_000],
  ])('%s', (_name, headers, expected) => {
    expect(parseRetryAfter({ ...headers, 'retry-after': retryAfter }, now)).toBe(expected)
  })
})

describe('headers come in many forms', () => {
  test.each<[string, unknown, number | undefined]>([
    ['Headers', new Headers({ 'Retry-After': '5' }), 5000],
    [
      'Headers with two lines',
      new Headers([
        ['Retry-After', '5'],
        ['Retry-After', '9'],
      ]),
      9000,
    ],
    ['an object in any case', { 'RETRY-After': '5' }, 5000],
    ['an object of lists', { 'retry-after': ['5', '9'] }, 9000],
    ['a number', { 'retry-after': 5 }, 5000],
    [
      'pairs',
      [
        ['Retry-After', '5'],
        ['x', 'y'],
        ['retry-after', '7'],
      ],
      7000,
    ],
    ['a flat list', ['X', 'y', 'Retry-After', '5'], 5000],
    ['a flat list of bytes', [Buffer.from('Retry-After'), Buffer.from('5')], 5000],
    ['a flat list in which a value looks like the name', ['x', 'retry-after', 'y', '5'], undefined],
    ['a map', new Map([['retry-after', '5']]), 5000],
    ['none', undefined, undefined],
    ['null', null, undefined],
    ['an empty list', [], undefined],
    ['nonsense', 5, undefined],
    ['a header that is undefined', { 'retry-after': undefined }, undefined],
    ['a get that gives nothing', { get: () => null }, undefined],
    ['spaces around', { 'retry-after': ' 5 ' }, 5000],
  ])('%s', (_name, headers, expected) => {
    expect(parseRetryAfter(headers as never, now)).toBe(expected)
  })
})
