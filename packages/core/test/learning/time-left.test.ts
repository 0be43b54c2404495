import { describe, expect, test } from 'vitest'
import { parseTimeLeft } from '../../src/learning/time-left.ts'

describe('C13: durations and stamps', () => {
  const now = Date.UTC(2024, 0, 15, 10, 29, 30)
  test.each<[string, number | undefined]>([
    ['1s', 1000],
    ['500ms', 500],
    ['1m30s', 90_000],
    ['6m0s', 360_000],
    ['2m30.5s', 150_500],
    ['2024-01-15T10:30:00Z', 30_000],
    ['1h', 3_600_000],
    ['1d2h', 93_600_000],
    ['1m5ms', 60_005],
    ['0s', 0],
    ['0.5', 500],
    ['30', 30_000],
    [' 30 ', 30_000],
    ['2024-01-15T10:30Z', 30_000],
    ['2024-01-15t12:30:00.500+02:00', 30_500],
    ['2024-01-15 05:30:00-05:00', 30_000],
    ['2024-01-15T10:00:00Z', 0],
    ['Mon, 15 Jan 2024 10:30:00 GMT', 30_000],
    ['2024-01-15T10:30:00', undefined],
    ['2024-13-45T10:30:00Z', undefined],
    ['30s1m', undefined],
    ['1s1s', undefined],
    ['5x', undefined],
    ['-5s', undefined],
    ['-5', undefined],
    ['1e3', undefined],
    ['soon', undefined],
    ['', undefined],
  ])('%o', (text, expected) => {
    expect(parseTimeLeft(text, now)).toBe(expected)
  })
})

describe('C03: units are told by magnitude', () => {
  test.each<[string, number, number | undefined]>([
    ['30', 1_700_000_000_000, 30_000],
    ['999999999', 1_700_000_000_000, 999_999_999_000],
    ['1700000030', 1_700_000_000_000, 30_000],
    ['1700000030000', 1_700_000_000_000, 30_000],
    ['1700000030.25', 1_700_000_000_000, 30_250],
    ['1699999990', 1_700_000_000_000, 0],
    ['2200000000', 2_199_999_940_000, 60_000],
    ['99999999999999', 99_999_999_990_000, 9999],
    ['100000000000000', 1_700_000_000_000, undefined],
  ])('%s at %d', (text, now, expected) => {
    expect(parseTimeLeft(text, now)).toBe(expected)
  })
})
