import { expect, test } from 'vitest'
import { parseRateLimit } from '../../src/index.ts'

test.each<[string, number | undefined]>([
  ['100;w=60', 60_000],
  ['100;w=60, 50;w=1', 60_000],
  ['50;w=1, 100;w=60', 60_000],
  ['70;w=60', 60_000],
  ['70;w=60, 50;w=1', undefined],
  ['100;w=0', undefined],
  ['100', undefined],
])('a window is that of the same limit, or the only one: %s', (line, windowMs) => {
  const headers = { ratelimit: 'limit=100, remaining=5, reset=7', 'ratelimit-policy': line }
  const [policy] = parseRateLimit(headers, { receivedAtMs: 0 }).policies
  expect(policy).toEqual({ limit: 100, remaining: 5, resetMs: 7000, ...(windowMs !== undefined && { windowMs }) })
})
