import { createPacer, type PacerOptions, type Permit } from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'
import { describe, expect, test } from 'vitest'

const url = 'https://a.example/'

function setUp(options: PacerOptions = {}) {
  const clock = new ManualClock()
  const pacer = createPacer({ clock, ...options })
  const observe = (headers: Record<string, string>, status = 200) => pacer.observe(url, { status, headers })
  const waitMs = async () => (await pacer.peek(url)).waitMs
  return { clock, pacer, observe, waitMs }
}

/** A host with so many requests per window, all windows one after another from time 0. */
function windows(clock: ManualClock, limit: number, windowMs: number) {
  let window = 0
  let used = 0
  return {
    refusals: 0,
    answer() {
      const now = Math.floor(clock.now() / windowMs)
      if (now !== window) used = 0
      window = now
      used++
      const reset = String(Math.ceil(((window + 1) * windowMs - clock.now()) / 1000))
      const rest = { 'ratelimit-limit': String(limit), 'ratelimit-reset': reset }
      if (used <= limit) return { status: 200, headers: { ...rest, 'ratelimit-remaining': String(limit - used) } }
      this.refusals++
      return { status: 429, headers: { ...rest, 'ratelimit-remaining': '0', 'retry-after': reset } }
    },
  }
}

/** Sends as fast as the pacer lets it; each answer takes `latencyMs`. */
async function sendAll(
  clock: ManualClock,
  pacer: ReturnType<typeof createPacer>,
  count: number,
  host: ReturnType<typeof windows>,
  latencyMs = 5,
) {
  const departures: number[] = []
  const answer = (permit: Permit) => {
    departures.push(clock.now())
    const outcome = host.answer()
    clock.setTimer(() => permit.done({ ...outcome, latencyMs }), latencyMs)
  }
  for (let i = 0; i < count; i++) void pacer.wait(url).then(answer)
  for (let ms = 0; ms < 600_000 && departures.length < count; ms += 10) await clock.advanceAsync(10)
  expect(departures).toHaveLength(count)
  return departures
}

describe('a published limit', () => {
  test('of which nothing is left holds the host until the reset', async () => {
    const { observe, waitMs, clock, pacer } = setUp({ rate: 1000 })
    observe({ ratelimit: '"default";r=0;t=30' })
    expect(await waitMs()).toBe(30_000)
    expect((await pacer.peek(url)).layer).toBe('published')
    clock.advance(29_999)
    expect(await waitMs()).toBe(1)
    clock.advance(1)
    expect(await waitMs()).toBe(0)
  })

  test.each([
    ['"a";r=20;t=20, "b";r=0;t=300', 300_000],
    ['limit=100, remaining=50, reset=30', 0],
  ])('C09: %s', async (ratelimit, expected) => {
    const { observe, waitMs } = setUp({ rate: 1000 })
    observe({ ratelimit })
    expect(await waitMs()).toBe(expected)
  })

  test('is spread over what is left of its window; of several the slowest counts', async () => {
    const { clock, pacer, observe } = setUp({ rate: 1000, capacity: 1000, justification: 'a test' })
    const departures: number[] = []
    observe({ ratelimit: '"minute";r=10;t=20, "hour";r=2;t=10' })
    for (let i = 0; i < 4; i++) void pacer.wait(url).then(() => departures.push(clock.now()))
    await clock.advanceAsync(20_000)
    expect(departures).toEqual([0, 5000, 10_000, 11_250])
  })

  test('counts what has left since as used', async () => {
    const { clock, pacer } = setUp({ rate: 1000, capacity: 1000, justification: 'a test' })
    const permits = await Promise.all(Array.from({ length: 5 }, () => pacer.wait(url)))
    permits[0]?.done({ status: 200, headers: { ratelimit: '"default";r=5;t=10' } })
    expect((await pacer.explain(url)).learned?.published).toMatchObject([{ remaining: 1, resetMs: 10_000 }])
    // The answer to one that left later says more; one to an earlier request says nothing new.
    clock.advance(10)
    const late = await Promise.all([pacer.wait(url)])
    late[0]?.done({ status: 200, headers: { ratelimit: '"default";r=0;t=10' } })
    permits[1]?.done({ status: 200, headers: { ratelimit: '"default";r=4;t=10' } })
    expect((await pacer.explain(url)).learned?.published).toMatchObject([{ remaining: 0 }])
  })

  test('never relaxes what is declared', async () => {
    const { clock, pacer, observe } = setUp({ intervalMs: 2000 })
    observe({ ratelimit: '"default";r=1000;t=10' })
    const departures: number[] = []
    for (let i = 0; i < 3; i++) void pacer.wait(url).then(() => departures.push(clock.now()))
    await clock.advanceAsync(20_000)
    expect(departures).toEqual([0, 2000, 4000])
  })

  test('widens an unknown host at once', async () => {
    const { pacer, observe } = setUp()
    observe({ 'x-ratelimit-limit': '600', 'x-ratelimit-remaining': '599', 'x-ratelimit-reset': '60' })
    expect((await pacer.explain(url)).learned?.gap?.intervalMs).toBeCloseTo(60_000 / 599, 5)
  })

  test.each([
    ['an unknown host', {}],
    ['a declared one', { rate: 100 }],
  ])('is kept by %s without a refusal, and used by more than nine tenths', async (_name, options) => {
    const { clock, pacer } = setUp(options)
    const host = windows(clock, 100, 10_000)
    const departures = await sendAll(clock, pacer, 300, host)
    expect(host.refusals).toBe(0)
    const takenMs = (departures.at(-1) as number) - (departures[0] as number)
    expect(299 / takenMs / (100 / 10_000)).toBeGreaterThan(0.9)
  })

  test('is shared with others who use it up: the next answer tells', async () => {
    const { clock, pacer, observe, waitMs } = setUp({ rate: 1000 })
    observe({ ratelimit: '"default";r=50;t=10' })
    await pacer.run(url, () => {})
    clock.advance(1000)
    observe({ ratelimit: '"default";r=3;t=9' })
    expect(await waitMs()).toBe(2000)
  })

  test('keeps its pace into the next window, where limit and length are known', async () => {
    const { clock, pacer, observe } = setUp({ rate: 1000, capacity: 1000, justification: 'a test' })
    observe({ ratelimit: '"default";r=2;t=4', 'ratelimit-policy': '"default";q=10;w=10' })
    const departures: number[] = []
    for (let i = 0; i < 5; i++) void pacer.wait(url).then(() => departures.push(clock.now()))
    await clock.advanceAsync(20_000)
    expect(departures).toEqual([0, 2000, 4000, 5000, 6000])
  })

  test('is forgotten after its reset, and then so is the host', async () => {
    const { clock, pacer, observe } = setUp({ rate: 1000 })
    observe({ ratelimit: '"default";r=2;t=4' })
    clock.advance(3000)
    pacer.sweep()
    expect(pacer.stats().hosts).not.toEqual({})
    clock.advance(100_000)
    pacer.sweep()
    expect(pacer.stats().hosts).toEqual({})
  })

  test('may be told in a unit that only the policy knows', async () => {
    const { observe, waitMs } = setUp({ rate: 1000, headers: { reset: 'ms' } })
    observe({ 'x-rate-limit-remaining': '0', 'x-rate-limit-reset': '600000' })
    expect(await waitMs()).toBe(600_000)
  })

  test('a complaint with an exhausted limit holds until the reset, and no longer', async () => {
    const { observe, waitMs, clock } = setUp({ rate: 1000 })
    observe({ 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '120' }, 403)
    expect(await waitMs()).toBe(120_000)
    clock.advance(120_000)
    observe({ 'x-ratelimit-reset': '2026-01-01T00:05Z', date: 'Thu, 01 Jan 2026 00:00:00 GMT' }, 429)
    expect(await waitMs()).toBe(300_000)
  })

  test('with adapt: false nothing is learned', async () => {
    const { observe, waitMs, pacer } = setUp({ rate: 1000, adapt: false })
    const seen: boolean[] = []
    pacer.on('observe', ({ limited }) => void seen.push(limited))
    observe({ ratelimit: '"default";r=0;t=30' }, 429)
    expect(await waitMs()).toBe(0)
    expect(seen).toEqual([true])
    expect((await pacer.explain(url)).learned).toBeUndefined()
  })

  test('survives a change of the policy', async () => {
    const { observe, waitMs, pacer } = setUp({ rate: 1000 })
    observe({ ratelimit: '"default";r=0;t=30' })
    pacer.update(url, { rate: 500 })
    expect(await waitMs()).toBe(30_000)
  })

  test('is one of a bounded number, whatever names the host makes up', async () => {
    const { observe, pacer } = setUp()
    for (let n = 0; n < 100; n++) observe({ ratelimit: `"n${n}";r=50;t=60` })
    const { learned } = await pacer.explain(url)
    expect(learned?.published).toHaveLength(16)
    expect(learned?.published.at(-1)).toMatchObject({ name: 'n99' })
  })

  test('is explained', async () => {
    const { observe, pacer } = setUp()
    observe({ ratelimit: '"default";r=20;t=30', 'ratelimit-policy': '"default";q=100;w=60' })
    const told = await pacer.explain(url)
    expect(told.learned).toEqual({
      gap: { intervalMs: 1500, reason: 'published limits' },
      published: [{ name: 'default', limit: 100, remaining: 20, resetMs: 30_000, windowMs: 60_000 }],
      forgottenInMs: 1_800_000,
    })
    expect(told.layers.map(({ layer, source }) => [layer, source])).toEqual([
      ['adaptive', 'answers'],
      ['published', 'answers'],
    ])
    expect(String(told)).toContain('learned: default: 20 of 100 left, reset in 30000 ms')
    expect(String(told)).toContain('published: PublishedBudget; from answers')
    expect(String(told)).toContain('learned: a gap of 1500 ms, from published limits')
  })

  test('adapt tells of it', async () => {
    const { observe, pacer } = setUp()
    const told: object[] = []
    pacer.on('adapt', (event) => void told.push(event))
    observe({ ratelimit: '"default";r=20;t=30' })
    expect(told).toEqual([
      { key: 'https://a.example', waitMs: 1500, layer: 'adaptive', reason: 'published limits' },
      { key: 'https://a.example', waitMs: 1500, layer: 'published', reason: 'published limits' },
    ])
  })
})
