import { describe, expect, test } from 'vitest'
import { type Hold, holdAfter, isForgotten, isLimitAnswer } from '../../src/learning/hold.ts'
import { Setting, stores, url } from '../support/pacer-setting.ts'

test.each<[number, number | undefined, boolean]>([
  [429, undefined, true],
  [529, undefined, true],
  [429, 0, true],
  [503, undefined, false],
  [503, 5, true],
  [403, undefined, false],
  [403, 5, true],
  [301, undefined, false],
  [301, 5, true],
  [399, 5, true],
  [299, 5, false],
  [400, 5, false],
  [200, 5, false],
  [500, 5, false],
])('%d with %s is a limit answer: %s', (status, retryAfterMs, expected) => {
  expect(isLimitAnswer(status, retryAfterMs)).toBe(expected)
})

describe('an answer without a hint', () => {
  const minute = 60_000
  const after = (hold: Hold | undefined, nowMs: number, departedAtMs = nowMs) =>
    holdAfter(hold, { status: 429, retryAfterMs: undefined, departedAtMs }, nowMs)

  test('holds a minute, twice as long each time in a row, at most a day', () => {
    let hold: Hold | undefined
    let nowMs = 0
    const held: number[] = []
    for (let time = 0; time < 14; time++) {
      hold = after(hold, nowMs) as Hold
      held.push((hold.untilMs - nowMs) / minute)
      nowMs = hold.untilMs
    }
    expect(held).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1440, 1440, 1440])
  })

  test('is forgiven after thirty quiet minutes and not before', () => {
    const first = after(undefined, 0) as Hold
    expect(after(first, first.untilMs + 30 * minute - 1)).toMatchObject({ unhinted: 2 })
    const forgiven = after(first, first.untilMs + 30 * minute) as Hold
    expect(forgiven.untilMs - first.untilMs).toBe(31 * minute)
  })

  test('counts once per episode: those that left before the hold was over belong to it', () => {
    const first = after(undefined, 100) as Hold
    expect(after(first, 200, 0)).toBe(first)
    expect(after(first, 70_000, 60_099)).toBe(first)
    expect(after(first, 70_000, 60_100)).toMatchObject({ untilMs: 70_000 + 2 * minute })
  })

  test('a hold is forgotten once it is over, or forgiven', () => {
    expect(isForgotten({ untilMs: 100, unhinted: 0, reason: '' }, 99)).toBe(false)
    expect(isForgotten({ untilMs: 100, unhinted: 0, reason: '' }, 100)).toBe(true)
    expect(isForgotten({ untilMs: 100, unhinted: 1, reason: '' }, 100 + 30 * minute - 1)).toBe(false)
    expect(isForgotten({ untilMs: 100, unhinted: 1, reason: '' }, 100 + 30 * minute)).toBe(true)
  })
})

describe.each(stores)('what answers do to a host, $name', ({ make }) => {
  test('the longest of several hints wins, uncut', async () => {
    const s = new Setting(make(), { intervalMs: 1 })
    for (const seconds of ['5', '86400', '60'])
      s.pacer.observe(url, { status: 429, headers: { 'retry-after': seconds } })
    await s.settle()
    expect((await s.pacer.peek(url)).waitMs).toBe(86_400_000)
  })

  test('adapt: false learns and holds nothing', async () => {
    const s = new Setting(make(), { intervalMs: 1, adapt: false })
    s.pacer.observe(url, { status: 429, headers: { 'retry-after': '5' } })
    s.pacer.observe(url, { status: 429 })
    await s.send('a')
    expect(s.starts).toEqual(['a@0'])
  })

  test('a headerless 429 holds a minute, the next after it two', async () => {
    const s = new Setting(make(), { intervalMs: 1 })
    await s.send('a', { keep: true })
    s.permits.get('a')?.done({ status: 429, headers: {} })
    s.sendAll(['b'], { keep: true })
    await s.pass(60_000)
    s.permits.get('b')?.done({ status: 429 })
    s.sendAll(['c'])
    await s.pass(200_000)
    expect(s.starts).toEqual(['a@0', 'b@60000', 'c@180000'])
  })

  test('an error without a status teaches nothing', async () => {
    const s = new Setting(make(), { intervalMs: 1 })
    await s.send('a', { keep: true })
    s.permits.get('a')?.done({ error: new Error('reset'), headers: { 'retry-after': '5' } })
    await s.pass(1)
    await s.send('b')
    expect(s.starts).toEqual(['a@0', 'b@1'])
  })

  test('observe with a latency tells when the request left', async () => {
    const s = new Setting(make(), { intervalMs: 1 })
    await s.pass(10_000)
    s.pacer.observe(url, { status: 429, latencyMs: 100 })
    // Left before the hold was over: the same episode.
    await s.pass(60_050)
    s.pacer.observe(url, { status: 429, latencyMs: 100 })
    expect((await s.pacer.peek(url)).waitMs).toBe(0)
    s.pacer.observe(url, { status: 429, latencyMs: 10 })
    await s.settle()
    expect((await s.pacer.peek(url)).waitMs).toBe(120_000)
  })
})
