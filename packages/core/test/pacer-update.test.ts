import { type Policy, PolicyError } from '@hostpace/core'
import { describe, expect, test } from 'vitest'
import { range, Setting, stores, url } from './support/pacer-setting.ts'

describe.each(stores)('update, $name', ({ make }) => {
  test('those who wait follow the new limits at once', async () => {
    const s = new Setting(make(), { intervalMs: 10_000 })
    s.sendAll(range(4))
    await s.pass(1500)
    s.pacer.update(url, { intervalMs: 1000 })
    await s.pass(0)
    expect(s.times).toEqual([0, 1500])
    await s.pass(5000)
    expect(s.times).toEqual([0, 1500, 2500, 3500])
  })

  test('a longer interval holds back those who had a slot', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    s.sendAll(range(3))
    await s.pass(999)
    s.pacer.update(url, { intervalMs: 5000 })
    await s.pass(20_000)
    expect(s.times).toEqual([0, 5000, 10_000])
  })

  test('what has been used stays used', async () => {
    const s = new Setting(make(), { rate: '10r/s', quotas: [{ limit: 10, windowMs: 1000 }] })
    s.sendAll(range(10))
    await s.settle()
    s.pacer.update(url, { quotas: [{ limit: 12, windowMs: 1000 }], rate: 1000 })
    s.sendAll(range(5, 10))
    await s.pass(999)
    expect(s.starts).toHaveLength(12)
    await s.pass(1)
    expect(s.starts).toHaveLength(15)
  })

  test('each field that is given replaces the present one, the burst as a whole', async () => {
    const s = new Setting(make(), { rate: '2r/s', capacity: 2, quotas: [{ limit: 100, windowMs: 1000 }] })
    s.pacer.update(url, { rate: '5r/s' })
    expect((await s.pacer.explain(url)).policy).toEqual({ rate: '5r/s', quotas: [{ limit: 100, windowMs: 1000 }] })
    s.pacer.update(url, { maxQueue: 3 })
    expect((await s.pacer.explain(url)).policy).toMatchObject({ rate: '5r/s', maxQueue: 3 })
  })

  test('of all hosts reaches those known and unknown, but not what is said of one host', async () => {
    const s = new Setting(make(), { intervalMs: 1000, hosts: { 'https://b.example': { intervalMs: 3000 } } })
    const to = 'https://b.example/'
    s.sendAll(['a1', 'a2'])
    s.sendAll(['b1', 'b2'], { to })
    await s.settle()
    s.pacer.update(undefined, { intervalMs: 2000 })
    s.sendAll(['c1', 'c2'], { to: 'https://c.example/' })
    await s.pass(5000)
    expect(s.starts).toEqual(['a1@0', 'b1@0', 'c1@0', 'a2@2000', 'c2@2000', 'b2@3000'])
  })

  test('may declare limits for a host that was unknown', async () => {
    const s = new Setting(make())
    s.sendAll(range(4))
    await s.pass(100)
    s.pacer.update(url, { rate: '100r/s', capacity: 100 })
    await s.settle()
    expect(s.times).toEqual([0, 100, 100, 100])
  })

  test('holds for a host that is met only later', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    s.pacer.update('https://later.example/', { intervalMs: 50 })
    s.sendAll(['a', 'b'], { to: 'https://later.example/x' })
    await s.pass(50)
    expect(s.starts).toEqual(['a@0', 'b@50'])
  })

  test('while the policy is looked up it lies over what is found', async () => {
    const s = new Setting(make(), { policyFor: async () => ({ intervalMs: 9000 }) })
    s.sendAll(['a', 'b'])
    s.pacer.update(url, { intervalMs: 700 })
    await s.pass(700)
    expect(s.starts).toEqual(['a@0', 'b@700'])
  })

  test.each<[unknown, string]>([
    [{ intervalMs: 0 }, 'intervalMs'],
    [{ interval: 5 }, 'interval'],
    [{ rate: '10r/w' }, 'rate'],
    [null, ''],
  ])('refuses %o, names field and host, and changes nothing', async (policy, field) => {
    const s = new Setting(make(), { intervalMs: 1000 })
    expect(() => s.pacer.update(url, policy as Policy)).toThrow(PolicyError)
    expect(() => s.pacer.update(url, policy as Policy)).toThrow(`https://a.example${field && `.${field}`}`)
    expect((await s.pacer.explain(url)).policy).toEqual({ intervalMs: 1000 })
  })

  test('a cost that the new limits can never let go is refused, and the next goes on', async () => {
    const s = new Setting(make(), { rate: '10r/s', capacity: 10 })
    s.sendAll(['all'], { cost: 10 })
    s.sendAll(['dear'], { cost: 8 })
    s.sendAll(['cheap'])
    await s.settle()
    s.pacer.update(url, { rate: '5r/s' })
    await s.pass(60_000)
    expect(s.refusal<PolicyError>('dear').path).toBe('cost')
    expect(s.names).toEqual(['all', 'cheap'])
  })

  test('keeps a pause', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    s.pacer.pause(url, 5000)
    s.sendAll(['a'])
    await s.settle()
    s.pacer.update(url, { intervalMs: 10 })
    await s.pass(5000)
    expect(s.starts).toEqual(['a@5000'])
  })

  test('keeps the place of a request that is about to be written', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    await s.send('a', { keep: true, reportsSent: true })
    s.pacer.update(url, { intervalMs: 500 })
    s.sendAll(['b'])
    await s.pass(2000)
    expect(s.names).toEqual(['a'])
    s.permits.get('a')?.sent()
    await s.pass(1000)
    expect(s.starts).toEqual(['a@0', 'b@2500'])
  })
})
