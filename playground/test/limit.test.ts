import type { Policy } from '@hostpace/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { simulate } from '../../packages/cli/src/simulation.ts'
import { limitOf } from '../src/limit.ts'

const ms = fc.integer({ min: 1, max: 5000 })
const quota = fc.record({ limit: fc.integer({ min: 1, max: 20 }), windowMs: ms })

/** The most that core lets go in any window, with so many requests at once that the limit shows. */
function mostUnder(policy: Policy, windowMs: number): number {
  const crowd = new Array<number>(limitOf(policy, windowMs) + 50).fill(0)
  return simulate({ name: '', policy: { rate: 1e6, ...policy } }, crowd, windowMs).worstWindow.count
}

test.each([
  [{}, 1000, Number.POSITIVE_INFINITY],
  [{ intervalMs: 2000 }, 1000, 1],
  [{ intervalMs: 2000 }, 10_000, 5],
  [{ intervalMs: 2000 }, 10_001, 6],
  [{ intervalMs: 300 }, 900, 3],
  [{ quotas: [{ limit: 10, windowMs: 60_000 }] }, 1000, 10],
  [{ quotas: [{ limit: 10, windowMs: 60_000 }] }, 90_000, 20],
  [{ intervalMs: 2000, quotas: [{ limit: 10, windowMs: 60_000 }] }, 60_000, 10],
])('%j in %d ms', (policy, windowMs, expected) => {
  expect(limitOf(policy, windowMs)).toBe(expected)
})

test('core fills what one rule permits, and goes no further', () => {
  fc.assert(
    fc.property(ms, fc.integer({ min: 1, max: 20_000 }), (intervalMs, windowMs) => {
      expect(mostUnder({ intervalMs }, windowMs)).toBe(limitOf({ intervalMs }, windowMs))
    }),
    { numRuns: 50 },
  )
  fc.assert(
    fc.property(ms, fc.array(quota, { minLength: 1, maxLength: 2 }), ms, (intervalMs, quotas, windowMs) => {
      const policy = { intervalMs, quotas }
      expect(mostUnder(policy, windowMs)).toBeLessThanOrEqual(limitOf(policy, windowMs))
    }),
    { numRuns: 50 },
  )
})
