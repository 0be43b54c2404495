import { describe, expect, test } from 'vitest'
import type { PublishedLimit } from '../../src/learning/learned.ts'
import { exhaustedMs, publishedAfter, publishedGapMs } from '../../src/learning/published.ts'

/** What is known of a limit that was told of at 1000 ms by the answer to a request of 500 ms. */
const known: readonly PublishedLimit[] = [
  { name: 'a', limit: 100, remaining: 40, resetAtMs: 61_000, windowMs: 60_000, departedAtMs: 500 },
]

describe('the answer to a request that left before the one that told last', () => {
  test.each<[string, number | undefined, boolean]>([
    ['in the same window', 59_000, false],
    ['whose reset is 1500 ms off by rounding', 60_500, false],
    ['whose reset is 1500 ms off the other way', 57_500, false],
    ['whose reset is none', undefined, false],
    ['in a later window', 60_501, true],
    ['in an earlier window', 57_499, true],
  ])('%s', (_name, resetMs, isNews) => {
    const policy = { name: 'a', remaining: 50, ...(resetMs !== undefined && { resetMs }) }
    const after = publishedAfter(known, [policy], 499, 0, 2000)
    expect(after[0]?.remaining).toBe(isNews ? 50 : 40)
    if (!isNews) expect(after).toBe(known)
  })

  test('is news for a limit without a reset no more than for others', () => {
    const endless = [{ name: 'a', remaining: 40, departedAtMs: 500 }]
    expect(publishedAfter(endless, [{ name: 'a', remaining: 50, resetMs: 1 }], 499, 0, 2000)).toBe(endless)
  })

  test('is news if they left at the same time', () => {
    expect(publishedAfter(known, [{ name: 'a', remaining: 50, resetMs: 59_000 }], 500, 0, 2000)[0]?.remaining).toBe(50)
  })
})

describe('what an answer publishes', () => {
  const first = (policy: object, from: readonly PublishedLimit[] = []) =>
    publishedAfter(from, [policy], 600, 3, 2000)[0]

  test('less those that are under way, and no less than none', () => {
    expect(first({ remaining: 10 })?.remaining).toBe(7)
    expect(first({ remaining: 2 })?.remaining).toBe(0)
    expect(first({ limit: 10 })?.remaining).toBeUndefined()
  })

  test('counts from its receipt, or has no reset', () => {
    expect(first({ remaining: 10, resetMs: 5000 })?.resetAtMs).toBe(7000)
    expect(first({ remaining: 10 })?.resetAtMs).toBeUndefined()
  })

  test('is nothing if it is a reset alone', () => {
    expect(publishedAfter(known, [{ name: 'a', resetMs: 5 }], 600, 0, 2000)).toBe(known)
  })

  test('keeps the limit that was told before', () => {
    expect(first({ name: 'a', remaining: 10 }, known)?.limit).toBe(100)
    expect(first({ name: 'a', remaining: 10, limit: 20 }, known)?.limit).toBe(20)
  })

  test.each<[object, number | undefined]>([
    [{ windowMs: 5000, resetMs: 90_000 }, 5000],
    [{ resetMs: 90_000 }, 90_000],
    [{ resetMs: 10_000 }, 60_000],
    [{}, 60_000],
  ])('has windows as long as it says, else as the longest time to a reset: %o', (policy, windowMs) => {
    expect(first({ name: 'a', remaining: 10, ...policy }, known)?.windowMs).toBe(windowMs)
  })

  test('has windows of no known length if it has no reset', () => {
    expect(first({ remaining: 10 })?.windowMs).toBeUndefined()
  })
})

test('the gap is that of the slowest limit that still counts', () => {
  const limit = (remaining: number | undefined, resetAtMs: number | undefined) => ({
    remaining,
    resetAtMs,
    departedAtMs: 0,
  })
  expect(publishedGapMs([limit(10, 2000), limit(2, 2000)], 1000)).toBe(500)
  for (const gone of [limit(10, 1000), limit(undefined, 2000), limit(10, undefined)]) {
    expect(publishedGapMs([gone], 1000)).toBeUndefined()
  }
  expect(publishedGapMs([limit(10, 1001)], 1000)).toBe(0.1)
})

test('the wait is for the last reset of those of which nothing is left', () => {
  const policies = [
    { remaining: 0, resetMs: 10 },
    { remaining: 0, resetMs: 20 },
    { remaining: 1, resetMs: 30 },
  ]
  expect(exhaustedMs(policies, false)).toBe(20)
  expect(exhaustedMs(policies, true)).toBe(20)
  expect(exhaustedMs([...policies, { resetMs: 40 }], true)).toBe(40)
  expect(exhaustedMs([{ resetMs: 40 }], false)).toBeUndefined()
  expect(exhaustedMs([{ remaining: 0 }], true)).toBeUndefined()
})
