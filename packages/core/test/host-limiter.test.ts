import { describe, expect, test, vi } from 'vitest'
import { HostLimiter, limiterFor, type Policy, policyFor } from '../src/index.ts'
import { ManualClock } from '../src/testing/manual-clock.ts'

function setUp(policy: Policy) {
  const clock = new ManualClock()
  return { clock, limiter: new HostLimiter(policy, { clock }) }
}

test('burst capacity cannot override a declared interval', () => {
  const { limiter } = setUp({
    intervalMs: 2000,
    rate: '10r/s',
    capacity: 10,
    quotas: [{ limit: 1000, windowMs: 3_600_000 }],
  })
  expect(limiter.acquire()).toBe(0)
  expect(limiter.acquire()).toBeGreaterThanOrEqual(2000)
})

test('forty links under Crawl-delay: 2 leave one in the first second and five in the first eight', () => {
  const { limiter } = setUp({ intervalMs: 2000 })
  const waits = Array.from({ length: 40 }, () => limiter.acquire())
  expect(waits.filter((ms) => ms < 1000)).toHaveLength(1)
  expect(waits.filter((ms) => ms <= 8000)).toHaveLength(5)
})

test('a bucket of forty lets all forty go at once', () => {
  const { limiter } = setUp({ rate: '30r/m', capacity: 40, justification: 'to show the difference' })
  expect(Array.from({ length: 40 }, () => limiter.acquire())).toEqual(Array(40).fill(0))
})

test('every layer is charged at the departure, so that a window is not over-filled by those who asked early', () => {
  const { limiter, clock } = setUp({ intervalMs: 400, quotas: [{ limit: 2, windowMs: 1000, window: 'sliding' }] })
  expect([0, 1, 2, 3, 4].map(() => limiter.acquire())).toEqual([0, 400, 1000, 1400, 2000])
  clock.advance(1000)
  expect(limiter.acquire()).toBe(1400)
})

test('the wait is the longest of the layers, and that layer is named', () => {
  const { limiter, clock } = setUp({
    intervalMs: 100,
    rate: 5,
    capacity: 2,
    justification: 'x',
    quotas: [{ limit: 4, windowMs: 5000 }],
  })
  const layers = Array.from({ length: 5 }, () => {
    const { layer, waitMs } = limiter.peek()
    clock.advance(limiter.acquire())
    return [layer, waitMs]
  })
  expect(layers).toEqual([
    ['none', 0],
    ['interval', 100],
    ['interval', 100],
    ['burst', 200],
    ['quota', 4600],
  ])
})

describe('tryAcquire and peek', () => {
  test('take nothing where one cannot go now', () => {
    const { limiter, clock } = setUp({ intervalMs: 1000 })
    expect([limiter.tryAcquire(), limiter.tryAcquire(), limiter.tryAcquire()]).toEqual([true, false, false])
    expect(limiter.peek()).toEqual({ waitMs: 1000, layer: 'interval' })
    clock.advance(1000)
    expect(limiter.tryAcquire()).toBe(true)
  })

  test('see what is reserved', () => {
    const { limiter, clock } = setUp({ intervalMs: 1000 })
    const reservation = limiter.reserve()
    expect(limiter.tryAcquire()).toBe(false)
    reservation.cancel()
    expect(limiter.tryAcquire()).toBe(true)
    limiter.reserve()
    clock.advance(1500)
    expect(limiter.peek()).toEqual({ waitMs: 500, layer: 'interval' })
  })
})

describe('reserve', () => {
  test('promises a departure that can be given back, and the next caller gets it', () => {
    const { limiter } = setUp({ intervalMs: 1000 })
    const [first, second, third] = [limiter.reserve(), limiter.reserve(), limiter.reserve()]
    expect([first, second, third].map(({ departAtMs }) => departAtMs)).toEqual([0, 1000, 2000])
    expect([first.layer, second.layer]).toEqual(['none', 'interval'])
    second.cancel()
    second.cancel()
    expect(limiter.acquire()).toBe(1000)
    expect(limiter.acquire()).toBe(3000)
    third.cancel()
    expect(limiter.reserve().waitMs).toBe(2000)
  })

  test('a slot whose time is over counts as used', () => {
    const { limiter, clock } = setUp({ intervalMs: 1000 })
    const reservation = limiter.reserve()
    clock.advance(1)
    reservation.cancel()
    expect(limiter.acquire()).toBe(999)
  })

  test('a slot can be given back at the very moment it is for', () => {
    const { limiter, clock } = setUp({ intervalMs: 1000 })
    limiter.acquire()
    const reservation = limiter.reserve()
    clock.advance(1000)
    reservation.cancel()
    expect(limiter.acquire()).toBe(0)
  })

  test('nobody overtakes those who were promised, whatever they cost', () => {
    const { limiter, clock } = setUp({ quotas: [{ limit: 4, windowMs: 100 }] })
    limiter.reserve(2)
    expect(limiter.acquire(3)).toBe(100)
    clock.advance(0.25)
    expect(limiter.peek()).toEqual({ waitMs: 99.75, layer: 'quota' })
    expect(limiter.acquire()).toBe(99.75)
  })

  test('what is given back later opens nothing less than what was given back before', () => {
    const { limiter } = setUp({ intervalMs: 10 })
    const slots = Array.from({ length: 4 }, () => limiter.reserve())
    slots[1]?.cancel()
    slots[3]?.cancel()
    expect([limiter.acquire(), limiter.acquire()]).toEqual([10, 30])
  })

  test('a cancel that comes too late lets nobody overtake', () => {
    const { limiter, clock } = setUp({ quotas: [{ limit: 4, windowMs: 100 }] })
    const over = limiter.reserve(2)
    expect(limiter.reserve(3).waitMs).toBe(100)
    clock.advance(1)
    over.cancel()
    expect(limiter.acquire()).toBe(99)
  })

  test('a slot in the middle that is given back twice over is filled from the front', () => {
    const { limiter } = setUp({ intervalMs: 10 })
    const slots = Array.from({ length: 5 }, () => limiter.reserve())
    slots[3]?.cancel()
    slots[1]?.cancel()
    expect([limiter.acquire(), limiter.acquire(), limiter.acquire()]).toEqual([10, 30, 50])
  })
})

test('A05: a clock that steps back stands still, and nothing is gained by a step', () => {
  let nowMs = 0
  const limiter = new HostLimiter({ rate: 1, capacity: 1 }, { clock: { now: () => nowMs } })
  expect(limiter.acquire()).toBe(0)
  nowMs = 500
  expect(limiter.peek().waitMs).toBe(500)
  nowMs = -28_800_000
  expect(limiter.peek().waitMs).toBe(500)
  nowMs = 1000
  expect(limiter.acquire()).toBe(0)
})

test('a burst of more than a second is warned of, by the name of the field', () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  setUp({ rate: '1r/s', capacity: 5 })
  expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('policy.capacity of 5'), {
    type: 'HostpaceWarning',
    code: 'HOSTPACE_BURST',
  })
  warn.mockRestore()
})

test('what makes no sense is refused by name', () => {
  expect(() => new HostLimiter({ intervalMs: 0 })).toThrow('policy.intervalMs')
  expect(() => new HostLimiter({ quotas: [{ limit: 1, windowMs: Number.NaN }] })).toThrow('policy.quotas[0].windowMs')
  const { limiter } = setUp({ rate: '3r/s' })
  expect(() => limiter.acquire(4)).toThrow('cost of 4')
  expect(() => limiter.reserve(0)).toThrow('cost')
})

describe('registry entries', () => {
  test('the longer delay is the interval, the requests per minute the rate, the daily quota a window of a day', () => {
    const entry = {
      crawlDelayFloorSeconds: 1,
      rulesCrawlDelaySeconds: 2.5,
      maxRequestsPerMinute: 120,
      dailyQuota: 5000,
    }
    expect(policyFor(entry)).toEqual({
      intervalMs: 2500,
      rate: '120r/m',
      capacity: 2,
      quotas: [{ limit: 5000, windowMs: 86_400_000 }],
    })
    expect(policyFor({ crawlDelayFloorSeconds: 0, maxRequestsPerMinute: 30 })).toEqual({ rate: '30r/m', capacity: 1 })
  })

  test('limiterFor paces by it, without a warning', () => {
    const warn = vi.spyOn(process, 'emitWarning')
    const limiter = limiterFor({ crawlDelayFloorSeconds: 2, maxRequestsPerMinute: 600 }, { clock: new ManualClock() })
    expect([limiter.acquire(), limiter.acquire()]).toEqual([0, 2000])
    expect(warn).not.toHaveBeenCalled()
  })

  test.each([
    ['crawlDelayFloorSeconds', -1],
    ['rulesCrawlDelaySeconds', '2'],
    ['maxRequestsPerMinute', 0],
    ['dailyQuota', 1.5],
    ['requests', 1],
  ])('%s: %s is refused by name', (field, value) => {
    const entry = { crawlDelayFloorSeconds: 1, maxRequestsPerMinute: 60, [field]: value }
    expect(() => policyFor(entry as never)).toThrow(`entry.${field}`)
  })
})
