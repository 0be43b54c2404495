import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readArrivals } from '../../packages/cli/src/arrivals.ts'
import { type Arrivals, arrivalTimes } from '../src/arrivals.ts'

const any: Arrivals = { pattern: 'once', count: 5, perSecond: 2, seed: 7, burst: 2, everyMs: 15_000 }

test.each([
  ['once', [0, 0, 0, 0, 0]],
  ['steady', [0, 500, 1000, 1500, 2000]],
  ['bursts', [0, 0, 15_000, 15_000, 30_000]],
] as const)('%s', (pattern, times) => {
  expect(arrivalTimes({ ...any, pattern })).toEqual(times)
})

test('Poisson arrivals are those of the command line', async () => {
  const io = { stdin: Readable.from([]), out() {}, err() {}, errIsTerminal: false, columns: 80 }
  const expected = await readArrivals('poisson:2/s', { spanMs: 60_000, seed: 7 }, io)
  const times = arrivalTimes({ ...any, pattern: 'poisson', count: expected.length })
  expect(times).toEqual(expected)
  expect(times.length).toBeGreaterThan(60)
  expect(arrivalTimes({ ...any, pattern: 'poisson', seed: 8 })).not.toEqual(times.slice(0, 5))
})
