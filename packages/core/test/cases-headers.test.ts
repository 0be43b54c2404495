import { WaitTooLongError } from '@hostpace/core'
import { describe, expect, test } from 'vitest'
import { range, Setting, stores, url } from './support/pacer-setting.ts'

describe.each(stores)('$name', ({ make }) => {
  test.each([
    ['60', 60_000],
    ['2.0', 2000],
    ['0.5', 500],
  ])('C01: Retry-After: %s holds for %d ms', async (retryAfter, holdMs) => {
    const s = new Setting(make(), { rate: '10r/s' })
    await s.send('first', { keep: true })
    s.permits.get('first')?.done({ status: 429, headers: { 'retry-after': retryAfter } })
    s.sendAll(['second'])
    await s.pass(holdMs - 1)
    expect(s.names).toEqual(['first'])
    await s.pass(1)
    expect(s.starts).toEqual(['first@0', `second@${holdMs}`])
  })

  test('C02: what cannot be read counts as absent', async () => {
    const s = new Setting(make(), { rate: '10r/s' })
    for (const [host, value] of ['-5', '+3', '', 'soon', 'Infinity', '0x10', '1e3'].entries()) {
      const to = `https://h${host}.example/`
      s.pacer.observe(to, { status: 429, headers: { 'retry-after': value } })
      await s.settle()
      expect((await s.pacer.peek(to)).waitMs, value).toBe(60_000)
      const other = `https://o${host}.example/`
      s.pacer.observe(other, { status: 503, headers: { 'retry-after': value } })
      expect((await s.pacer.peek(other)).waitMs, value).toBe(0)
    }
  })

  test('C03: an epoch in Retry-After holds until that moment', async () => {
    const s = new Setting(make(), { rate: '10r/s' })
    s.clock.stepWall(1_700_000_000_000)
    s.pacer.observe(url, { status: 429, headers: { 'retry-after': '1700000060' } })
    await s.settle()
    expect((await s.pacer.peek(url)).waitMs).toBe(60_000)
  })

  test('C04: a hold binds everybody, and they leave one by one after it', async () => {
    const s = new Setting(make(), { intervalMs: 200 })
    const limited = { status: 429, headers: { 'retry-after': '10' } }
    // Twenty that left one by one are all answered at the same moment, and all sent again.
    s.sendAll(range(20), { keep: true })
    await s.pass(3800)
    expect(s.starts).toHaveLength(20)
    await s.pass(200)
    const startMs = s.clock.now()
    for (const name of range(20)) {
      s.permits.get(String(name))?.done(limited)
      s.sendAll([`again${name}`])
    }
    s.sendAll(range(100).map((index) => `fresh${index}`))
    await s.pass(9999)
    expect(s.starts).toHaveLength(20)
    await s.pass(60_000)
    const times = s.times.slice(20).map((time) => time - startMs)
    expect(times).toHaveLength(120)
    expect(times[0]).toBe(10_000)
    expect(times[19]).toBe(13_800)
    for (const [index, time] of times.slice(1).entries()) {
      expect(time - (times[index] as number)).toBeGreaterThanOrEqual(200)
    }
  })

  test('C04: where every answer says so, there is one probe per hold', async () => {
    const s = new Setting(make(), { intervalMs: 200, concurrency: 1 })
    const starts: number[] = []
    const probe = (): Promise<void> =>
      s.pacer
        .run(url, () => {
          starts.push(s.clock.now())
          if (starts.length < 6) for (const _ of range(3)) void probe()
          return { status: 429, headers: { 'retry-after': '10' } }
        })
        .then(
          () => {},
          () => {},
        )
    void probe()
    await s.pass(59_999)
    expect(starts).toEqual([0, 10_000, 20_000, 30_000, 40_000, 50_000])
    await s.pacer.close()
  })

  test('C11: a hold that is too long for one caller rejects that caller and stays for the others', async () => {
    const s = new Setting(make(), { rate: '10r/s' })
    await s.send('first', { keep: true })
    s.permits.get('first')?.done({ status: 429, headers: { 'retry-after': '86400' } })
    await s.send('hasty', { maxWaitMs: 5000 })
    expect(s.refusal('hasty')).toBeInstanceOf(WaitTooLongError)
    expect(s.refusal('hasty')).toMatchObject({ waitMs: 86_400_000, maxWaitMs: 5000, layer: 'pause' })
    expect(s.clock.now()).toBe(0)
    s.sendAll(['patient'])
    await s.pass(86_399_999)
    expect(s.names).toEqual(['first'])
    await s.pass(1)
    expect(s.starts.at(-1)).toBe('patient@86400000')
  })
})
