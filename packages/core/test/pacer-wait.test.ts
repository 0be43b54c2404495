import { PolicyError } from '@hostpace/core'
import { describe, expect, test } from 'vitest'
import { range, Setting, stores } from './support/pacer-setting.ts'
import { TestClock } from './support/test-clock.ts'

describe.each(stores)('wait, $name', ({ make }) => {
  test('the first leaves at once and sets no timer', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    await s.send('a')
    expect(s.starts).toEqual(['a@0'])
    expect(s.clock.timers).toBe(0)
  })

  test('an unknown host gets one request per second and no burst', async () => {
    const s = new Setting(make())
    s.sendAll(range(4))
    await s.pass(60_000)
    expect(s.times).toEqual([0, 1000, 2000, 3000])
    expect(s.permits.get('1')?.layer).toBe('adaptive')
    await s.pass(60_000)
    s.sendAll(['x', 'y'])
    await s.pass(1000)
    expect(s.starts.slice(4)).toEqual(['x@120000', 'y@121000'])
  })

  test('startIntervalMs changes what an unknown host gets', async () => {
    const s = new Setting(make(), { adapt: { startIntervalMs: 250 } })
    s.sendAll(range(3))
    await s.pass(500)
    expect(s.times).toEqual([0, 250, 500])
  })

  test('a declared rate applies from the first request', async () => {
    const s = new Setting(make(), { rate: '10r/s' })
    s.sendAll(range(12))
    await s.pass(200)
    expect(s.times).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100, 200])
  })

  test('forty links under a crawl delay of two seconds: 1 in the first second, 5 in the first eight', async () => {
    const s = new Setting(make(), { intervalMs: 2000 })
    s.sendAll(range(40))
    await s.pass(999)
    expect(s.starts).toHaveLength(1)
    await s.pass(8001)
    expect(s.times).toEqual([0, 2000, 4000, 6000, 8000])
    await s.pass(70_000)
    expect(s.times).toEqual(range(40).map((index) => index * 2000))
  })

  test('a bucket of forty lets all forty go at once', async () => {
    const s = new Setting(make(), { rate: '10r/s', capacity: 40, justification: 'a test' })
    s.sendAll(range(40))
    await s.settle()
    expect(s.times).toEqual(range(40).map(() => 0))
  })

  test('hosts do not wait for each other', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    s.sendAll(['a1', 'a2'])
    s.sendAll(['b1', 'b2'], { to: 'https://b.example/' })
    await s.pass(1000)
    expect(s.starts).toEqual(['a1@0', 'b1@0', 'a2@1000', 'b2@1000'])
  })

  test('higher priorities go first, equals in the order they came', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    await s.send('first')
    s.sendAll(['low1', 'low2'], { priority: -1 })
    s.sendAll(['mid1', 'mid2'])
    s.sendAll(['high1', 'high2'], { priority: 5 })
    await s.pass(6000)
    expect(s.names).toEqual(['first', 'high1', 'high2', 'mid1', 'mid2', 'low1', 'low2'])
    expect(s.times).toEqual(range(7).map((index) => index * 1000))
  })

  test('one of higher priority that comes later takes over the head and costs nobody time', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    await s.send('first')
    s.sendAll(['a', 'b'])
    await s.pass(500)
    s.sendAll(['urgent'], { priority: 1 })
    await s.pass(5000)
    expect(s.starts).toEqual(['first@0', 'urgent@1000', 'a@2000', 'b@3000'])
  })

  test('cost counts as so many requests in every layer', async () => {
    const s = new Setting(make(), { quotas: [{ limit: 10, windowMs: 1000 }] })
    s.sendAll(['a', 'b', 'c'], { cost: 4 })
    await s.pass(1000)
    expect(s.starts).toEqual(['a@0', 'b@0', 'c@1000'])
  })

  test('a cost that can never leave rejects, as does one that is no whole number', async () => {
    const s = new Setting(make(), { rate: '5r/s', capacity: 5 })
    await s.send('six', { cost: 6 })
    await s.send('half', { cost: 0.5 })
    await s.send('none', { cost: 0 })
    for (const name of ['six', 'half', 'none']) {
      expect(s.refusal<PolicyError>(name)).toBeInstanceOf(PolicyError)
      expect(s.refusal<PolicyError>(name).path).toBe('cost')
    }
    s.sendAll(range(5))
    await s.settle()
    expect(s.starts).toHaveLength(5)
  })

  test.each([
    [{ priority: Number.NaN }, 'priority'],
    [{ priority: Number.POSITIVE_INFINITY }, 'priority'],
    [{ maxWaitMs: -1 }, 'maxWaitMs'],
    [{ maxWaitMs: Number.NaN }, 'maxWaitMs'],
    [{ cost: Number.NaN }, 'cost'],
    [{ cost: '1' as unknown as number }, 'cost'],
    [{ signal: {} as AbortSignal }, 'signal'],
    [{ signal: 5 as unknown as AbortSignal }, 'signal'],
    [{ reservation: {} as never }, 'reservation'],
    [{ reservation: null as never }, 'reservation'],
    [{ key: 5 as unknown as string }, 'key'],
    [{ key: '' }, 'key'],
  ])('refuses the option %o and takes nothing', async (options, path) => {
    const s = new Setting(make(), { intervalMs: 1000 })
    await s.send('wrong', options)
    expect(s.refusal<PolicyError>('wrong')).toMatchObject({ name: 'PolicyError', code: 'ERR_HOSTPACE_POLICY', path })
    await s.send('right')
    expect(s.starts).toEqual(['right@0'])
  })

  test('says what is wrong with a call that makes no sense at all', async () => {
    const { pacer } = new Setting(make())
    await expect(pacer.wait('https://a.example', null as never)).rejects.toMatchObject({ path: 'options' })
    await expect(pacer.wait('https://a.example', 'fast' as never)).rejects.toMatchObject({ path: 'options' })
    for (const url of [undefined, null, 5, {}]) {
      await expect(pacer.wait(url as never)).rejects.toThrow(/^url must be a string or a URL, got /)
      expect(() => pacer.pause(url as never, 5)).toThrow(TypeError)
    }
    await expect(pacer.wait('https://a.example', { signal: null as never })).resolves.toBeDefined()
  })

  test('what is not a URL with a host rejects with a TypeError and is not thrown', async () => {
    const s = new Setting(make())
    await s.send('words', { to: 'no url' })
    await s.send('file', { to: 'file:///etc/hosts' })
    expect(s.refusal('words')).toBeInstanceOf(TypeError)
    expect(s.refusal('file')).toBeInstanceOf(TypeError)
    expect(s.store.hosts.size).toBe(0)
  })

  test('the permit tells its key, how long it waited and for which layer', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    await s.send('a')
    s.sendAll(['b', 'c'])
    await s.pass(2000)
    expect(s.permits.get('a')).toMatchObject({ key: 'https://a.example', waitedMs: 0, layer: 'none' })
    expect(s.permits.get('b')).toMatchObject({ waitedMs: 1000, layer: 'interval' })
    expect(s.permits.get('c')).toMatchObject({ waitedMs: 2000, layer: 'interval' })
  })

  test('one timer serves all hosts, and none is left when nobody waits', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    for (const host of range(50)) s.sendAll(['1', '2', '3'], { to: `https://h${host}.example/` })
    await s.settle()
    expect(s.clock.timers).toBe(1)
    await s.pass(2000)
    expect(s.starts).toHaveLength(150)
    expect(s.clock.timers).toBe(0)
  })

  test('a timer that fires late makes the interval count from the real departure', async () => {
    const s = new Setting(make(), { intervalMs: 1000 }, new TestClock(700))
    s.sendAll(range(3))
    await s.pass(10_000)
    expect(s.times).toEqual([0, 1700, 3400])
  })

  test('a timer that fires early is set again and nobody leaves early', async () => {
    const clock = new TestClock(-0.5)
    const s = new Setting(make(), { intervalMs: 100 }, clock)
    s.sendAll(range(3))
    await s.pass(200)
    expect(s.times).toEqual([0, 100, 200])
  })

  test('key paces under another name', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    s.sendAll(['a'], { key: 'shared' })
    s.sendAll(['b'], { key: 'shared', to: 'https://b.example/' })
    await s.pass(1000)
    expect(s.starts).toEqual(['a@0', 'b@1000'])
    expect(s.permits.get('b')?.key).toBe('shared')
  })
})
