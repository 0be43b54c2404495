import fc from 'fast-check'
import { expect, test } from 'vitest'
import { simulate } from '../../packages/cli/src/simulation.ts'
import { windowCounts } from '../src/window-counts.ts'

test('requests come in and go out again', () => {
  expect(windowCounts([0, 0, 400], 1000)).toEqual([
    { atMs: 0, count: 2 },
    { atMs: 400, count: 3 },
    { atMs: 1000, count: 1 },
    { atMs: 1400, count: 0 },
  ])
})

test('one that leaves a whole window later takes the place of the first', () => {
  const counts = windowCounts([0, 2000, 4000], 2000).map(({ count }) => count)
  expect(counts).toEqual([1, 1, 1, 0])
  // In fractions of two 0.1 + 0.2 is a trace more than 0.3.
  expect(windowCounts([0.1, 0.3], 0.2).map(({ count }) => count)).toEqual([1, 1, 0])
})

test('nothing leaves, nothing is counted', () => {
  expect(windowCounts([], 1000)).toEqual([])
})

test('the highest count is the worst window of the simulation', () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 1, maxLength: 60 })
  fc.assert(
    fc.property(gaps, fc.integer({ min: 1, max: 5000 }), (between, windowMs) => {
      let atMs = 0
      const arrivals = between.map((gap) => {
        atMs += gap
        return atMs
      })
      const { departures, worstWindow } = simulate({ name: '', policy: { rate: 2, capacity: 2 } }, arrivals, windowMs)
      const times = departures.map(({ departMs }) => departMs)
      expect(Math.max(...windowCounts(times, windowMs).map(({ count }) => count))).toBe(worstWindow.count)
    }),
  )
})
