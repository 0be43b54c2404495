import { readFile } from 'node:fs/promises'
import { type HeaderCarrier, parseRateLimit } from '@hostpace/core'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const receivedAtMs = 1_767_225_600_000

function parse(headers: HeaderCarrier, hints = {}) {
  return parseRateLimit(headers, { receivedAtMs, hints })
}

/** Every way in which clients hand headers on. */
const carriers: [string, (headers: Record<string, string>) => HeaderCarrier][] = [
  ['a plain object', (headers) => headers],
  ['names in capitals', (headers) => mapNames(headers, (name) => name.toUpperCase())],
  [
    'Headers',
    (headers) => new Headers(Object.entries(headers).map(([name, value]): [string, string] => [name, bytesOf(value)])),
  ],
  ['pairs', (headers) => Object.entries(headers)],
  ['a flat list', (headers) => Object.entries(headers).flat()],
]

function mapNames(headers: Record<string, string>, map: (name: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [map(name), value]))
}

/** Headers takes bytes only. */
function bytesOf(value: string): string {
  return /^[\0-\xff]*$/.test(value) ? value : Buffer.from(value).toString('latin1')
}

interface Sample {
  readonly name: string
  readonly status: number
  readonly receivedAtMs: number
  readonly headers: Record<string, string>
  readonly hints: object
  readonly expect: {
    readonly retryAfterMs: number | undefined
    readonly policies: readonly object[]
  }
}

const samples: readonly Sample[] = JSON.parse(
  await readFile(new URL('./rate-limit-samples.json', import.meta.url), 'utf8'),
)

describe.each(carriers)('in %s', (_name, carry) => {
  test.each(samples)('$name', ({ headers, hints, status, receivedAtMs, expect: expected }) => {
    const read = parseRateLimit(carry(headers), { status, receivedAtMs, hints })
    expect(read.retryAfterMs).toBe(expected.retryAfterMs)
    expect(read.policies).toHaveLength(expected.policies.length)
    expect(read.policies).toMatchObject(expected.policies)
  })
})

describe('cases', () => {
  test.each([
    ['30', 30_000],
    ['1700000030', 30_000],
    ['1700000030000', 30_000],
    ['1699999990', 0],
  ])('C03: a reset of %s is told by its magnitude', (reset, resetMs) => {
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }
    const read = parseRateLimit(headers, { status: 429, receivedAtMs: 1_700_000_000_000 })
    expect(read).toEqual({ policies: [{ remaining: 0, resetMs }] })
  })

  test('C03: a stamp in Retry-After, and one beyond 2038', () => {
    const now = { status: 429, receivedAtMs: 1_700_000_000_000 }
    expect(parseRateLimit({ 'retry-after': '1700000060' }, now)).toEqual({ retryAfterMs: 60_000, policies: [] })
    const late = { status: 429, receivedAtMs: 2_199_999_940_000 }
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '2200000000' }
    expect(parseRateLimit(headers, late).policies).toEqual([{ remaining: 0, resetMs: 60_000 }])
  })

  test('C09: all limits of all lines are seen', () => {
    const both = [
      { name: 'a', remaining: 20, resetMs: 20_000 },
      { name: 'b', remaining: 0, resetMs: 300_000 },
    ]
    expect(parse({ RateLimit: '"a";r=20;t=20, "b";r=0;t=300' }).policies).toEqual(both)
    const lines = ['RateLimit', '"a";r=20;t=20', 'RateLimit', '"b";r=0;t=300']
    expect(parse(lines).policies).toEqual(both)
    expect(parse({ RateLimit: ['"a";r=20;t=20', '"b";r=0;t=300'] }).policies).toEqual(both)
    const dictionary = { limit: 100, remaining: 50, resetMs: 30_000 }
    expect(parse({ RateLimit: 'limit=100, remaining=50, reset=30' }).policies).toEqual([dictionary])
    const draft6 = { 'RateLimit-Remaining': '0', 'RateLimit-Reset': '50' }
    expect(parse(draft6).policies).toEqual([{ remaining: 0, resetMs: 50_000 }])
    expect(parse({ RateLimit: '"a";r=' }).policies).toEqual([])
  })

  test('C13: durations and stamps', () => {
    const at = { receivedAtMs: Date.parse('2024-01-15T10:29:30Z') }
    const reset = (value: string) => parseRateLimit({ 'x-ratelimit-reset-tokens': value }, at).policies[0]?.resetMs
    const values = ['1s', '500ms', '1m30s', '6m0s', '2m30.5s', '2024-01-15T10:30:00Z']
    expect(values.map(reset)).toEqual([1000, 500, 90_000, 360_000, 150_500, 30_000])
  })
})

test('several things are counted apart, and resources have their names', () => {
  const anthropic = {
    'anthropic-ratelimit-requests-limit': '50',
    'anthropic-ratelimit-requests-remaining': '0',
    'anthropic-ratelimit-requests-reset': '2026-01-01T00:00:12Z',
    'anthropic-ratelimit-input-tokens-remaining': '30000',
  }
  expect(parse(anthropic).policies).toEqual([
    { name: 'requests', limit: 50, remaining: 0, resetMs: 12_000 },
    { name: 'input-tokens', remaining: 30_000 },
  ])
  const github = { 'x-ratelimit-remaining': '7', 'x-ratelimit-resource': 'search' }
  expect(parse(github)).toEqual({ policies: [{ remaining: 7 }], resource: 'search' })
})

test("a moment is compared with the response's own date, unless a cache has kept it", () => {
  const headers = { 'x-ratelimit-reset': '1767229260', date: 'Thu, 01 Jan 2026 01:00:00 GMT' }
  expect(parse(headers).policies).toEqual([{ resetMs: 60_000 }])
  expect(parse({ ...headers, age: '5' }).policies).toEqual([{ resetMs: 3_660_000 }])
})

describe('bounds', () => {
  test.each([
    ['a bare number of seconds beyond a day may be milliseconds', { 'x-ratelimit-reset': '600000' }, 86_400_000],
    ['a moment in years', { 'x-ratelimit-reset': '4000000000' }, 31 * 86_400_000],
    ['a duration in years', { 'x-ratelimit-reset': '900d' }, 31 * 86_400_000],
    ['a field in years', { ratelimit: 'remaining=1, reset=999999999' }, 31 * 86_400_000],
  ])('%s', (_name, headers, resetMs) => {
    expect(parse(headers as unknown as Record<string, string>).policies[0]).toMatchObject({ resetMs })
  })

  const nasty = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('-1', '1e9', 'NaN', 'Infinity', '0x10', '9'.repeat(400), '"a";r=1;t=1e3', '(1 2);w=3', '?1', ''),
    fc.stringMatching(/^[\d.,;="a-z: -]{0,30}$/),
  )
  const names = [
    ...new Set(samples.flatMap(({ headers }) => Object.keys(headers))),
    'ratelimit-reset',
    'x-ratelimit-reset-after',
    'x-ratelimit-used',
  ]

  test('whatever a host sends: no throw, no NaN, nothing negative, no wait without a bound', () => {
    const header = fc.tuple(fc.constantFrom(...names), nasty)
    const hints = fc.record({ reset: fc.constantFrom(undefined, 's', 'ms', 'epoch-s', 'epoch-ms') })
    fc.assert(
      fc.property(fc.array(header, { maxLength: 8 }), hints, (pairs, given) => {
        const { retryAfterMs, policies } = parse(pairs, given)
        if (retryAfterMs !== undefined) expect(retryAfterMs >= 0 && Number.isFinite(retryAfterMs)).toBe(true)
        for (const { name, limit, remaining, resetMs, windowMs } of policies) {
          expect(name === undefined || typeof name === 'string').toBe(true)
          for (const value of [limit, remaining])
            if (value !== undefined) expect(Number.isSafeInteger(value)).toBe(true)
          for (const value of [limit, remaining]) if (value !== undefined) expect(value).toBeGreaterThanOrEqual(0)
          if (resetMs !== undefined) expect(resetMs >= 0 && resetMs <= 31 * 86_400_000).toBe(true)
          if (windowMs !== undefined) expect(windowMs > 0 && Number.isFinite(windowMs)).toBe(true)
        }
      }),
      { numRuns: 5000 },
    )
  })
})

test('hints name the unit, and the headers', () => {
  const headers = { 'X-Left': '5', 'X-Again': '1500', 'X-Most': '10' }
  const hints = { reset: 'ms', names: { limit: 'x-most', remaining: 'X-LEFT', reset: 'x-again' } }
  expect(parse(headers, hints).policies).toEqual([{ limit: 10, remaining: 5, resetMs: 1500 }])
  const later = { 'x-ratelimit-reset': '1767225660' }
  expect(parse(later, { reset: 'epoch-s' }).policies).toEqual([{ resetMs: 60_000 }])
  expect(parse(later, { reset: 's' }).policies).toEqual([{ resetMs: 31 * 86_400_000 }])
  expect(parse({ 'x-ratelimit-reset': '30s' }, { reset: 'ms' }).policies).toEqual([{ resetMs: 30_000 }])
})

describe('what is malformed or should not be', () => {
  test.each([
    ['"a";r=50;t=10, "a";r=2;t=60', { remaining: 2, resetMs: 60_000 }],
    ['"a";r=2;t=60, "a";r=50;t=10', { remaining: 2, resetMs: 60_000 }],
    ['"a";r=2;t=60, "a";r=2;t=90', { remaining: 2, resetMs: 90_000 }],
  ])('of one name twice in a list the tighter counts: %s', (ratelimit, expected) => {
    expect(parse({ ratelimit }).policies).toEqual([{ name: 'a', ...expected }])
    const both = { ratelimit: '"a";r=1;t=5', 'ratelimit-policy': '"a";q=100;w=60, "a";q=10;w=60' }
    expect(parse(both).policies).toEqual([{ name: 'a', limit: 10, windowMs: 60_000, remaining: 1, resetMs: 5000 }])
  })

  test('a number with commas for thousands is none', () => {
    const headers = { 'x-ratelimit-limit': '1,000', 'x-ratelimit-remaining': '12,345,678', 'x-ratelimit-reset': '5' }
    expect(parse(headers).policies).toEqual([{ resetMs: 5000 }])
    expect(parse({ 'ratelimit-limit': '100, 100;w=60' }).policies).toEqual([{ limit: 100 }])
    expect(parse({ 'ratelimit-limit': '100,100;w=60' }).policies).toEqual([{ limit: 100 }])
  })
})
