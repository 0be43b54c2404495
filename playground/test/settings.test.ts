import { HostLimiter } from '@hostpace/core'
import { describe, expect, test } from 'vitest'
import { firstView, readSettings } from '../src/settings.ts'

function settingsWith(changes: Record<string, string | undefined>) {
  const params = new URLSearchParams(firstView)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) params.delete(name)
    else params.set(name, value)
  }
  return readSettings(params)
}

test('the first view is the forty-links problem', () => {
  const { arrivals, host, windowMs, policies } = settingsWith({})
  expect(arrivals).toMatchObject({ pattern: 'once', count: 40 })
  expect(host).toEqual({ intervalMs: 2000 })
  expect(windowMs).toBe(10_000)
  expect(policies).toEqual({
    a: { name: 'token bucket', policy: { rate: 0.5, capacity: 40, justification: 'to see what it does' } },
    b: { name: 'leaky bucket', policy: { intervalMs: 2000 } },
  })
})

test('every layer can be set, and core takes the policy', () => {
  const quotas = { 'a.quota': '10', 'a.quotaWindow': '0.3', 'a.quotaKind': 'sliding' }
  const others = { 'a.quota2': '100', 'a.quota2Window': '3600', 'a.quota2Kind': 'fixed' }
  const { policy } = settingsWith({ 'a.interval': '1.1', 'a.capacity': '1', ...quotas, ...others }).policies.a
  expect(policy).toEqual({
    intervalMs: 1100,
    rate: 0.5,
    capacity: 1,
    quotas: [
      { limit: 10, windowMs: 300 },
      { limit: 100, windowMs: 3_600_000, window: 'fixed' },
    ],
  })
  expect(new HostLimiter(policy).policy).toEqual(policy)
})

test('what the host asks for may be nothing, or a quota', () => {
  expect(settingsWith({ crawlDelay: undefined }).host).toEqual({})
  const host = settingsWith({ crawlDelay: undefined, hostQuota: '30', hostQuotaWindow: '60' }).host
  expect(host).toEqual({ quotas: [{ limit: 30, windowMs: 60_000 }] })
})

describe('what makes no sense is refused by name', () => {
  test.each([
    [{ count: 'many' }, "Requests (count) must be a whole number from 1 to 2000, got 'many'"],
    [{ count: '1.5' }, "Requests (count) must be a whole number from 1 to 2000, got '1.5'"],
    [{ count: undefined }, 'Requests (count) must be given'],
    [{ 'b.interval': '0' }, "Interval (b.interval) must be a number from 0.001 to 86400, got '0'"],
    [{ 'b.interval': ' ' }, "Interval (b.interval) must be a number from 0.001 to 86400, got ' '"],
    [{ 'b.interval': 'Infinity' }, "Interval (b.interval) must be a number from 0.001 to 86400, got 'Infinity'"],
    [{ pattern: 'toString' }, "They come (pattern) must be one of once, steady, poisson, bursts, got 'toString'"],
    [{ pattern: 'poisson' }, 'On average (perSecond) must be given'],
    [{ seed: '1' }, 'there is no seed to set here'],
    [{ 'b.capacity': '5' }, 'there is no b.capacity to set here'],
    [{ 'a.name': ' ' }, "Name (a.name) must be a text of up to 40 characters, got ' '"],
  ])('%j', (changes, message) => {
    expect(() => settingsWith(changes)).toThrow(expect.objectContaining({ name: 'SettingsError', message }))
  })

  test('a field that is there twice', () => {
    const params = new URLSearchParams(`${firstView}&count=41`)
    expect(() => readSettings(params)).toThrow('count is set twice')
  })
})
