import { expect, test } from 'vitest'
import { figuresOf } from '../src/figures.ts'
import { outcomeOf } from '../src/outcome.ts'

const forty = new Array<number>(40).fill(0)
const tokens = { name: 'tokens', policy: { rate: 0.5, capacity: 40, justification: 'to compare' } }
const leaky = { name: 'leaky', policy: { intervalMs: 2000 } }
const host = { intervalMs: 2000 }

test('the host is asked too early by all but the first of a burst', () => {
  expect(outcomeOf(tokens, forty, host, 1000)).toMatchObject({ unwelcome: 39, medianWaitMs: 0, longestWaitMs: 0 })
  expect(outcomeOf(tokens, forty, {}, 1000).unwelcome).toBe(0)
})

test('an interval suits the host that asks for it', () => {
  const outcome = outcomeOf(leaky, forty, host, 1000)
  expect(outcome).toMatchObject({ unwelcome: 0, medianWaitMs: 39_000, longestWaitMs: 78_000 })
  expect([...outcome.waitsByLayer]).toEqual([['interval', 39]])
})

test('a request that breaks two rules is counted once', () => {
  const strict = { intervalMs: 2000, quotas: [{ limit: 1, windowMs: 2000 }] }
  expect(outcomeOf(tokens, forty, strict, 1000).unwelcome).toBe(39)
})

test('each layer that asked for a wait is named', () => {
  const policy = { intervalMs: 100, rate: 1, quotas: [{ limit: 3, windowMs: 10_000 }] }
  const outcome = outcomeOf({ name: 'mixed', policy }, [0, 0, 0, 0], {}, 1000)
  expect([...outcome.waitsByLayer]).toEqual([
    ['burst', 2],
    ['quota', 1],
  ])
  expect(Object.fromEntries(figuresOf(outcome, Number.POSITIVE_INFINITY))).toEqual({
    'smallest gap': '1 s',
    'worst 1 s': '1',
    'too early or too many': 'none',
    'average rate': '0.3/s',
    'median wait': '1.5 s',
    'longest wait': '10 s',
    'waited for': 'burst (2), quota (1)',
    'all gone after': '10 s',
  })
})
