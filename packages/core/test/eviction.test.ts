import { describe, expect, test } from 'vitest'
import { range, Setting, stores, url } from './support/pacer-setting.ts'

const to = (host: number | string) => `https://h${host}.example/`

describe.each(stores)('eviction, $name', ({ make }) => {
  test('used credit is never forgotten', async () => {
    const s = new Setting(make(), { quotas: [{ limit: 3, windowMs: 10_000 }] })
    s.sendAll(range(3))
    for (const _ of range(9)) {
      await s.pass(1000)
      s.pacer.sweep()
    }
    expect(s.store.hosts.size).toBe(1)
    s.sendAll(['more'])
    await s.pass(5000)
    expect(s.starts.at(-1)).toBe('more@10000')
  })

  test.each<[string, (s: Setting) => Promise<unknown>]>([
    ['in flight', (s) => s.send('a', { keep: true })],
    ['about to be written', (s) => s.send('a', { keep: true, reportsSent: true })],
    ['held', async (s) => s.pacer.pause(url, 3_600_000)],
    ['held until it is forgiven', async (s) => s.pacer.observe(url, { status: 429 })],
    ['reserved', async (s) => [s.pacer.pause(url, 3_000_000), await s.pacer.reserve(url)]],
    ['waited for', async (s) => [s.pacer.pause(url, 3_600_000), s.sendAll(['a'])]],
  ])('a host that is %s is not forgotten', async (_name, use) => {
    const s = new Setting(make(), { intervalMs: 1000 })
    await use(s)
    await s.pass(1_000_000)
    s.pacer.sweep()
    expect(s.store.hosts.find('https://a.example')).toBeDefined()
  })

  test('a host whose policy is being looked up is not forgotten', async () => {
    const s = new Setting(make(), { policyFor: () => new Promise(() => {}) })
    s.sendAll(['a'])
    await s.pass(1000)
    s.pacer.sweep()
    expect(s.store.hosts.size).toBe(1)
  })

  test('a number that is given again starts afresh', async () => {
    const s = new Setting(make(), { intervalMs: 1000, hosts: { [to('new')]: { intervalMs: 50 } } })
    s.sendAll(['a', 'b'], { to: to('old') })
    await s.pass(1000)
    s.pacer.observe(to('old'), { status: 429, headers: { 'retry-after': '3' } })
    await s.pass(1_859_000)
    s.pacer.sweep()
    expect(s.store.hosts.size).toBe(0)
    s.sendAll(['c', 'd'], { to: to('new') })
    await s.pass(50)
    expect(s.starts.slice(2)).toEqual(['c@1860000', 'd@1860050'])
    expect(s.pacer.stats().hosts).toEqual({
      'https://hnew.example': {
        departures: 2,
        waits: { interval: { count: 1, ms: 50 } },
        queued: 0,
        inFlight: 0,
        refused: 0,
        heldMs: 0,
      },
    })
  })

  test('a reservation that is cancelled long after does not touch who has its number now', async () => {
    const s = new Setting(make(), { intervalMs: 1000, hosts: { [to('new')]: { intervalMs: 5000 } } })
    const reservation = await s.pacer.reserve(to('old'))
    await s.pass(60_000)
    s.pacer.sweep()
    expect(s.store.hosts.size).toBe(0)
    reservation.cancel()
    await s.settle()
    s.sendAll(['a', 'b'], { to: to('new') })
    await s.settle()
    reservation.cancel()
    await s.pass(5000)
    expect(s.starts).toEqual(['a@60000', 'b@65000'])
  })

  test('what policyFor gave is forgotten with the host', async () => {
    let calls = 0
    const s = new Setting(make(), { policyFor: () => ({ intervalMs: ++calls * 10 }) })
    await s.send('a')
    await s.pass(1000)
    s.pacer.sweep()
    await s.send('b')
    expect(calls).toBe(2)
    expect((await s.pacer.explain(url)).policy.intervalMs).toBe(20)
  })

  test('what was updated is not', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    await s.send('a')
    s.pacer.update(url, { intervalMs: 77 })
    await s.pass(1000)
    s.pacer.sweep()
    expect(s.store.hosts.size).toBe(0)
    expect((await s.pacer.explain(url)).policy.intervalMs).toBe(77)
  })

  test('a crowd that comes and goes leaves nothing behind, a minute after it has recovered', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    for (const host of range(100)) s.sendAll([host], { to: to(host) })
    await s.pass(30_000)
    await s.send('late', { to: to('late') })
    await s.pass(40_000)
    // Those of the crowd have recovered more than a minute ago, the late one has not.
    await s.send('another', { to: to('another') })
    expect(Object.keys(s.pacer.stats().hosts)).toEqual(['https://hlate.example', 'https://hanother.example'])
    await s.pass(120_000)
    expect(s.pacer.stats().hosts).toEqual({})
  })

  test('very many different policies are not kept for ever', async () => {
    const s = new Setting(make(), { policyFor: (key) => ({ intervalMs: Number(/\d+/.exec(key)?.[0] ?? 1) + 1 }) })
    for (const host of range(10_050)) void s.send(String(host), { to: to(host) })
    await s.pass(60_000)
    expect(s.starts).toHaveLength(10_050)
    s.sendAll(['x', 'y'], { to: to(5) })
    await s.pass(6)
    expect(s.starts.slice(-2)).toEqual(['x@60000', 'y@60006'])
  })
})
