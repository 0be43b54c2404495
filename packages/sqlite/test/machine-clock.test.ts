import { expect, test } from 'vitest'
import { type ClockMark, fileTime, machineClock } from '../src/machine-clock.ts'

const mark: ClockMark = { boot: 'one', monotonicMs: 1000, wallMs: 500_000, fileMs: 7000 }

test.each([
  { name: 'the same run', boot: 'one', monotonicMs: 1400, wallMs: 500_400, fileMs: 7400 },
  { name: 'the same run, wall clock set forward', boot: 'one', monotonicMs: 1400, wallMs: 900_000, fileMs: 7400 },
  { name: 'the same run, wall clock set back', boot: 'one', monotonicMs: 1400, wallMs: 100_000, fileMs: 7400 },
  { name: 'another run, 60 s later', boot: 'two', monotonicMs: 20, wallMs: 560_000, fileMs: 67_000 },
  { name: 'another run that is older by now', boot: 'two', monotonicMs: 5000, wallMs: 560_000, fileMs: 67_000 },
  { name: 'another run, wall clock set back', boot: 'two', monotonicMs: 20, wallMs: 100_000, fileMs: 7000 },
  { name: 'another run of a system that does not tell', boot: 'one', monotonicMs: 20, wallMs: 560_000, fileMs: 67_000 },
])('the time of the file: $name', ({ fileMs, boot, monotonicMs, wallMs }) => {
  const now = fileTime(mark, { boot, monotonicMs: () => monotonicMs, wallMs: () => wallMs })
  expect(now).toEqual({ boot, monotonicMs, wallMs, fileMs })
})

test('a new file starts at the time of day in UTC', () => {
  const wallMs = Date.UTC(2026, 1, 3, 1, 30)
  const now = fileTime(undefined, { boot: 'one', monotonicMs: () => 5, wallMs: () => wallMs })
  expect(now.fileMs).toBe(5_400_000)
})

test('the clocks of this machine', () => {
  const clock = machineClock()
  const atMs = clock.monotonicMs()
  expect(clock.monotonicMs()).toBeGreaterThanOrEqual(atMs)
  expect(Math.abs(clock.wallMs() - Date.now())).toBeLessThan(1000)
  expect(clock.boot).toBe(machineClock().boot)
})
