import { describe, expect, test } from 'vitest'
import { range, Setting, stores, url } from './support/pacer-setting.ts'
import { TestClock } from './support/test-clock.ts'

describe.each(stores)('pause, $name', ({ make }) => {
  test('holds one host and no other', async () => {
    const s = new Setting(make(), { intervalMs: 100 })
    s.pacer.pause(url, 5000)
    s.sendAll(['a1', 'a2'])
    s.sendAll(['b1'], { to: 'https://b.example/' })
    await s.pass(10_000)
    expect(s.starts).toEqual(['b1@0', 'a1@5000', 'a2@5100'])
    expect(s.permits.get('a1')?.layer).toBe('pause')
  })

  test('applies to those who wait already', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    s.sendAll(range(3))
    await s.pass(500)
    s.pacer.pause(url, 5000)
    await s.pass(20_000)
    expect(s.times).toEqual([0, 5500, 6500])
  })

  test('the longest of several wins, whatever the order', async () => {
    const s = new Setting(make(), { intervalMs: 100 })
    s.pacer.pause(url, 1000)
    s.pacer.pause(url, 3000)
    s.pacer.pause(url, 2000)
    s.sendAll(['a'])
    await s.pass(10_000)
    expect(s.starts).toEqual(['a@3000'])
  })

  test('resume ends it at once for those who wait', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    s.pacer.pause(url, 60_000)
    s.sendAll(range(3))
    await s.pass(700)
    s.pacer.resume(url)
    await s.pass(5000)
    expect(s.times).toEqual([700, 1700, 2700])
    expect(s.pacer.stats().hosts['https://a.example']?.heldMs).toBe(0)
  })

  test('resume of a host that is not held changes nothing', async () => {
    const s = new Setting(make(), { rate: '10r/s' })
    s.pacer.resume(url)
    s.sendAll(range(10))
    await s.settle()
    expect(s.times).toEqual(range(10).map(() => 0))
  })

  test.each([
    ['a pause that ends', (s: Setting) => s.pass(10_000)],
    ['a pause that is ended', (s: Setting) => s.pass(4000).then(() => s.pacer.resume(url))],
  ])('after %s a full bucket gives one and then the rate, never a backlog', async (_name, end) => {
    const s = new Setting(make(), { rate: '10r/s', capacity: 50, justification: 'a test' })
    s.pacer.pause(url, 10_000)
    s.sendAll(range(30))
    await end(s)
    const [first = 0] = s.times.length > 0 ? s.times : [s.clock.now()]
    await s.pass(20_000)
    expect(s.times).toEqual(range(30).map((index) => first + index * 100))
  })

  test('a quota alone is spread over its window after a pause', async () => {
    const s = new Setting(make(), { quotas: [{ limit: 10, windowMs: 10_000 }] })
    s.pacer.pause(url, 5000)
    s.sendAll(range(10))
    await s.pass(30_000)
    const gaps = s.times.slice(1).map((time, index) => time - (s.times[index] as number))
    expect(s.times[0]).toBe(5000)
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1000)
  })

  test('is told with its reason', async () => {
    const s = new Setting(make(), { intervalMs: 100 })
    s.pacer.pause(url, 5000, 'maintenance')
    await s.pass(1000)
    const explanation = await s.pacer.explain(url)
    expect(explanation.pause).toEqual({ leftMs: 4000, reason: 'maintenance' })
    expect(String(explanation)).toContain('held for 4000 ms: maintenance')
    expect(await s.pacer.peek(url)).toEqual({ waitMs: 4000, layer: 'pause', queued: 0, inFlight: 0 })
    expect(s.pacer.stats().hosts['https://a.example']?.heldMs).toBe(4000)
  })

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, '5' as unknown as number])('refuses %s', (ms) => {
    const s = new Setting(make(), { intervalMs: 100 })
    expect(() => s.pacer.pause(url, ms)).toThrow(/^ms must be/)
  })

  test('before the policy is known it holds as well, and is not lost when the look-up fails', async () => {
    let fails = true
    const policyFor = async () => {
      await Promise.resolve()
      if (fails) throw new Error('registry down')
      return { intervalMs: 100 }
    }
    const s = new Setting(make(), { policyFor })
    s.pacer.pause(url, 5000)
    await s.pass(10)
    fails = false
    s.sendAll(['a'])
    await s.pass(10_000)
    expect(s.starts).toEqual(['a@5000'])
  })

  test('a pause ended while the policy is looked up is over', async () => {
    const s = new Setting(make(), { policyFor: async () => ({ intervalMs: 100 }) })
    s.pacer.pause(url, 5000)
    s.pacer.resume(url)
    s.sendAll(['a'])
    await s.pass(10)
    expect(s.starts).toEqual(['a@0'])
  })

  test('a timer that fires less than a nanosecond early does not spin', async () => {
    const s = new Setting(make(), { intervalMs: 100 }, new TestClock(-0.000_000_5))
    s.pacer.pause(url, 1000)
    s.sendAll(['a', 'b'])
    await s.pass(2000)
    expect(s.times.map(Math.round)).toEqual([1000, 1100])
  })
})
