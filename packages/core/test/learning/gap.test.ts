import { describe, expect, test } from 'vitest'
import { type GapAnswer, type GapRules, gapAfter } from '../../src/learning/gap.ts'
import type { LearnedGap } from '../../src/learning/learned.ts'

const rules: GapRules = {
  startIntervalMs: 1000,
  minIntervalMs: 10,
  maxIntervalMs: 60_000,
  targetConcurrency: 1,
  latency: false,
}
const good: GapAnswer = {
  status: 200,
  isLimited: false,
  isHinted: false,
  latencyMs: 100,
  publishedMs: undefined,
  departedAtMs: 0,
}
const complaint: GapAnswer = { ...good, status: 429, isLimited: true }
const refused: LearnedGap = { gapMs: 400, refusedMs: 200, refusedAtMs: 5000, learnedAtMs: 5000, reason: 'a test' }

describe('a host of which nothing is declared', () => {
  const after = (gap: LearnedGap | undefined, answer: Partial<GapAnswer>, nowMs = 6000) =>
    gapAfter(gap, { ...good, ...answer }, undefined, rules, nowMs)

  test.each([
    [200, 550],
    [399, 550],
    [199, undefined],
    [400, undefined],
  ])('an answer %d with a short latency', (status, gapMs) => {
    expect(after(undefined, { status })?.gapMs).toBe(gapMs)
  })

  test('an answer that is not good makes the gap longer, but not a word shorter', () => {
    expect(after(undefined, { status: 500, latencyMs: 3000 })?.gapMs).toBe(2000)
    expect(after(undefined, { status: 500, latencyMs: 1000 })).toBeUndefined()
  })

  test('what it publishes counts at once, and without a latency', () => {
    const published = after(undefined, { publishedMs: 50, latencyMs: undefined })
    expect(published).toMatchObject({ gapMs: 50, reason: 'published limits' })
    expect(after(undefined, { latencyMs: undefined })).toBeUndefined()
  })

  test.each([
    [5000, 1_804_999, 400],
    [5000, 1_805_000, 50],
  ])('twice the gap that it complained about at %d is the least, until it is forgiven: at %d', (_at, nowMs, gapMs) => {
    expect(after(refused, { publishedMs: 50 }, nowMs)?.gapMs).toBe(gapMs)
  })
})

describe('a complaint', () => {
  const after = (gap: LearnedGap | undefined, answer: Partial<GapAnswer>, declaredMs?: number) =>
    gapAfter(gap, { ...complaint, ...answer }, declaredMs, rules, 6000)

  test('belongs to the last one if it left before that was heard', () => {
    expect(after(refused, { departedAtMs: 4999 })).toBe(refused)
    expect(after(refused, { departedAtMs: 5000 })).toMatchObject({ gapMs: 800, refusedMs: 400, refusedAtMs: 6000 })
  })

  test.each<[string, number | undefined, number | undefined, number]>([
    ['what it started with', undefined, undefined, 2000],
    ['what it publishes, if that is longer', 3000, undefined, 6000],
    ['what is declared', 3000, 50, 100],
  ])('doubles %s', (_name, publishedMs, declaredMs, gapMs) => {
    expect(after(undefined, { publishedMs }, declaredMs)?.gapMs).toBe(gapMs)
  })

  test('doubles the shortest gap that is allowed, at the least', () => {
    expect(after({ ...refused, gapMs: 1 }, { departedAtMs: 6000 })?.gapMs).toBe(20)
    expect(after(undefined, {}, 0)?.gapMs).toBe(2)
  })

  test('makes the gap no longer than the longest', () => {
    expect(after({ ...refused, gapMs: 50_000 }, { departedAtMs: 6000 })).toMatchObject({
      gapMs: 60_000,
      refusedMs: 30_000,
    })
  })

  test('with a time to wait is forgiven once where the pace is declared', () => {
    expect(after(undefined, { isHinted: true }, 50)?.gapMs).toBe(0)
    expect(after(undefined, { isHinted: true })?.gapMs).toBe(2000)
    expect(after({ ...refused, gapMs: 0 }, { isHinted: true, departedAtMs: 6000 }, 50)?.gapMs).toBe(0)
    const good = { ...refused, gapMs: 0, learnedAtMs: 5001 }
    expect(after(good, { isHinted: true, departedAtMs: 6000 }, 50)?.gapMs).toBe(100)
  })
})
