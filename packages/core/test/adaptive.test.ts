import { createPacer, type PacerOptions } from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'
import { describe, expect, test } from 'vitest'

const url = 'https://a.example/'

/** How a simulated host answers a request that comes at `atMs`, when nothing else is to be done. */
interface Capacity {
  /** Milliseconds of work per request. */
  readonly workMs: number
  /** The gap below which it refuses, if it does. */
  readonly refusesBelowMs?: number
  readonly status?: number
  readonly headers?: Record<string, string>
}

/** Sends without a pause to a host that works on one request after another. */
class Simulation {
  readonly clock = new ManualClock()
  readonly pacer
  readonly departures: number[] = []
  readonly refusals: number[] = []
  observations = 0
  #capacity: Capacity
  #freeAtMs = 0
  #lastMs = Number.NEGATIVE_INFINITY

  constructor(capacity: Capacity, options: PacerOptions = {}) {
    this.#capacity = capacity
    this.pacer = createPacer({ clock: this.clock, ...options })
  }

  /** Goes on until so many more answers have been observed. */
  async observe(answers: number, capacity: Capacity = this.#capacity): Promise<void> {
    this.#capacity = capacity
    const end = this.observations + answers
    let isOver = false
    const sender = async () => {
      while (!isOver) {
        const permit = await this.pacer.wait(url)
        void this.#answer(permit)
      }
    }
    void sender()
    while (this.observations < end) await this.clock.advanceAsync(5)
    isOver = true
  }

  async #answer(permit: { done(outcome: object): void }): Promise<void> {
    const { clock } = this
    const { workMs, refusesBelowMs = 0, status = 200, headers } = this.#capacity
    const atMs = clock.now()
    const isRefused = atMs - this.#lastMs < refusesBelowMs
    this.departures.push(atMs)
    this.#lastMs = atMs
    if (isRefused) this.refusals.push(atMs)
    this.#freeAtMs = Math.max(this.#freeAtMs, atMs) + workMs
    const latencyMs = this.#freeAtMs - atMs
    await new Promise<void>((resolve) => clock.setTimer(resolve, latencyMs))
    permit.done({ status: isRefused ? 429 : status, headers: isRefused ? { 'retry-after': '1' } : headers, latencyMs })
    this.observations++
  }

  /** The gaps between the last departures. */
  gaps(count: number): number[] {
    const last = this.departures.slice(-count - 1)
    return last.slice(1).map((atMs, index) => atMs - (last[index] as number))
  }

  /** The worst relative distance of the last gaps from what the host can bear. */
  deviation(count: number, gapMs: number): number {
    return Math.max(...this.gaps(count).map((gap) => Math.abs(gap - gapMs) / gapMs))
  }
}

describe('the latency rule', () => {
  test('settles within 20 answers after the capacity steps up and down, and then does not oscillate', async () => {
    const s = new Simulation({ workMs: 200 })
    await s.observe(20)
    await s.observe(30)
    expect(s.deviation(30, 200)).toBeLessThan(0.2)
    await s.observe(20, { workMs: 50 })
    await s.observe(30)
    expect(s.deviation(30, 50)).toBeLessThan(0.2)
    await s.observe(20, { workMs: 400 })
    await s.observe(30)
    expect(s.deviation(30, 400)).toBeLessThan(0.2)
  })

  test('a host that fails is not asked faster, however fast it fails', async () => {
    const s = new Simulation({ workMs: 200 })
    await s.observe(50)
    await s.observe(50, { workMs: 1, status: 500 })
    expect(Math.min(...s.gaps(49))).toBeGreaterThan(160)
    await s.observe(20, { workMs: 100 })
    await s.observe(20)
    expect(s.deviation(20, 100)).toBeLessThan(0.2)
  })
})

describe('a host that refuses', () => {
  test('is not asked again as fast: refusals are few, and none once it has settled', async () => {
    const s = new Simulation({ workMs: 1, refusesBelowMs: 50 })
    await s.observe(40)
    const before = s.refusals.length
    expect(before).toBeGreaterThan(0)
    expect(before).toBeLessThanOrEqual(3)
    await s.observe(260)
    expect(s.refusals).toHaveLength(before)
    expect(Math.max(...s.gaps(200))).toBeLessThan(130)
  })

  test('is tried faster again half an hour after its last complaint', async () => {
    const s = new Simulation({ workMs: 1, refusesBelowMs: 200 })
    await s.observe(30)
    expect(Math.min(...s.gaps(15))).toBeGreaterThan(200)
    s.clock.advance(1_800_000)
    await s.observe(30, { workMs: 1 })
    expect(Math.max(...s.gaps(5))).toBeLessThan(20)
  })
})

describe('bounds', () => {
  test('never a gap below minIntervalMs, nor above maxIntervalMs', async () => {
    const s = new Simulation({ workMs: 0 }, { adapt: { minIntervalMs: 80, maxIntervalMs: 300 } })
    await s.observe(60)
    expect(Math.min(...s.gaps(59))).toBeGreaterThanOrEqual(80)
    await s.observe(30, { workMs: 5000 })
    const { learned } = await s.pacer.explain(url)
    expect(learned?.gap?.intervalMs).toBeCloseTo(300, 0)
  })

  test('never faster than what is declared, and slower only for complaints', async () => {
    const s = new Simulation({ workMs: 1 }, { intervalMs: 100 })
    await s.observe(40)
    expect(s.gaps(39).every((gap) => Math.abs(gap - 100) < 1e-6)).toBe(true)
    expect((await s.pacer.explain(url)).learned).toBeUndefined()
    await s.observe(40, { workMs: 500 })
    expect(s.gaps(30).every((gap) => Math.abs(gap - 100) < 1e-6)).toBe(true)
  })

  test('with latency: true the latency counts on a declared host as well', async () => {
    const s = new Simulation({ workMs: 400 }, { intervalMs: 100, adapt: { latency: true } })
    await s.observe(40)
    expect(s.deviation(15, 400)).toBeLessThan(0.2)
    await s.observe(40, { workMs: 1 })
    expect(s.deviation(15, 100)).toBeLessThan(0.01)
  })

  test('targetConcurrency aims at so many at once', async () => {
    const clock = new ManualClock()
    const pacer = createPacer({ clock, adapt: { targetConcurrency: 4 } })
    for (let i = 0; i < 20; i++) pacer.observe(url, { status: 200, latencyMs: 400 })
    expect((await pacer.explain(url)).learned?.gap?.intervalMs).toBeCloseTo(100, 1)
  })
})

describe('a declared host that complains', () => {
  const declared: PacerOptions = { rate: 10 }

  async function gapOf(pacer: Simulation['pacer']): Promise<number | undefined> {
    return (await pacer.explain(url)).learned?.gap?.intervalMs
  }

  test('and does not say for how long is asked at half the declared pace', async () => {
    const clock = new ManualClock()
    const pacer = createPacer({ clock, ...declared })
    pacer.observe(url, { status: 429 })
    expect(await gapOf(pacer)).toBe(200)
    clock.advance(61_000)
    for (let i = 0; i < 30; i++) pacer.observe(url, { status: 200 })
    // For as long as the complaint is remembered.
    expect(await gapOf(pacer)).toBe(200)
    clock.advance(1_800_000)
    for (let i = 0; i < 8; i++) pacer.observe(url, { status: 200 })
    expect(await gapOf(pacer)).toBeUndefined()
  })

  test('and says for how long is slowed down only the second time', async () => {
    const clock = new ManualClock()
    const pacer = createPacer({ clock, ...declared })
    const complain = () => pacer.observe(url, { status: 429, headers: { 'retry-after': '1' } })
    complain()
    expect(await gapOf(pacer)).toBe(0)
    clock.advance(2000)
    complain()
    expect(await gapOf(pacer)).toBe(0)
    clock.advance(2000)
    pacer.observe(url, { status: 200 })
    clock.advance(2000)
    complain()
    expect(await gapOf(pacer)).toBe(200)
  })

  test('is slowed down once by all that had left before', async () => {
    const clock = new ManualClock()
    const pacer = createPacer({ clock, ...declared, capacity: 5 })
    const permits = await Promise.all(Array.from({ length: 5 }, () => pacer.wait(url)))
    clock.advance(50)
    for (const permit of permits) permit.done({ status: 429 })
    expect(await gapOf(pacer)).toBe(200)
  })
})

test('an error without an answer teaches nothing', async () => {
  const pacer = createPacer({ clock: new ManualClock() })
  pacer.observe(url, { error: new Error('reset'), latencyMs: 5 })
  expect((await pacer.explain(url)).learned).toBeUndefined()
})

test('C05: an answer that only its body makes a complaint holds as a 429 without a header', async () => {
  const clock = new ManualClock()
  const pacer = createPacer({ clock, rate: 100 })
  const headers = { 'x-ratelimit-remaining': '4990' }
  pacer.observe(url, { status: 403, headers })
  expect((await pacer.peek(url)).waitMs).toBe(0)
  pacer.observe(url, { status: 503 })
  expect((await pacer.peek(url)).waitMs).toBe(0)
  pacer.observe(url, { status: 403, headers, limited: true })
  expect((await pacer.peek(url)).waitMs).toBe(60_000)
  clock.advance(60_001)
  pacer.observe(url, { status: 403, headers, limited: true })
  expect((await pacer.peek(url)).waitMs).toBe(120_000)
  clock.advance(120_000 + 1_800_000)
  pacer.observe(url, { status: 429 })
  expect((await pacer.peek(url)).waitMs).toBe(60_000)
})
