import { createPacer } from '@hostpace/core'
import { describe, expect, test } from 'vitest'
import { range, Setting, stores, url } from './support/pacer-setting.ts'

const policy = {
  intervalMs: 100,
  rate: '10r/s',
  capacity: 20,
  justification: 'their documentation says so',
  quotas: [{ limit: 1000, windowMs: 3_600_000 }],
} as const

describe.each(stores)('explain, $name', ({ make }) => {
  test('shows the layers, where they came from, the credit and the next departure', async () => {
    const s = new Setting(make(), { intervalMs: 100, hosts: { 'https://a.example': policy } })
    await s.send('a', { keep: true })
    s.sendAll(['b', 'c'])
    await s.settle()
    const explanation = await s.pacer.explain(url)
    expect({ ...explanation }).toEqual({
      key: 'https://a.example',
      policy,
      layers: [
        { layer: 'interval', rule: 'LeakyBucket', parameters: { intervalMs: 100 }, source: 'hosts', credit: 0 },
        {
          layer: 'burst',
          rule: 'TokenBucket',
          parameters: { ratePerSecond: 10, capacity: 20 },
          source: 'hosts',
          credit: 19,
        },
        {
          layer: 'quota',
          rule: 'SlidingWindowLog',
          parameters: { limit: 1000, windowMs: 3_600_000 },
          source: 'hosts',
          credit: 999,
        },
      ],
      justification: 'their documentation says so',
      pause: undefined,
      waitMs: 300,
      layer: 'interval',
      queued: 2,
      inFlight: 1,
    })
  })

  test('as text', async () => {
    const s = new Setting(make(), { hosts: { 'https://a.example': policy } })
    await s.send('a', { keep: true })
    s.pacer.pause(url, 5000.4321, 'maintenance')
    await s.settle()
    expect(String(await s.pacer.explain(url))).toBe(
      [
        'https://a.example: next departure in 5000.432 ms (pause); 0 waiting, 1 in flight',
        '  interval: LeakyBucket, intervalMs 100; from hosts; credit 0',
        '  burst: TokenBucket, ratePerSecond 10, capacity 20; from hosts; credit 19',
        '  quota: SlidingWindowLog, limit 1000, windowMs 3600000; from hosts; credit 999',
        '  burst justified: their documentation says so',
        '  held for 5000.432 ms: maintenance',
      ].join('\n'),
    )
    expect(String(await s.pacer.explain('https://b.example/'))).toBe(
      [
        'https://b.example: next departure now; 0 waiting, 0 in flight',
        '  adaptive: AdaptiveGap, intervalMs 1000; from unknown host; credit 1',
      ].join('\n'),
    )
  })

  test('tells the source of each part', async () => {
    const s = new Setting(make(), {
      rate: '5r/s',
      intervalMs: 10,
      hosts: { 'https://a.example': { quotas: [{ limit: 9, windowMs: 1000 }] } },
      policyFor: () => ({ intervalMs: 50 }),
    })
    const sources = async () => (await s.pacer.explain(url)).layers.map(({ layer, source }) => `${layer}: ${source}`)
    expect(await sources()).toEqual(['interval: policyFor', 'burst: all hosts', 'quota: hosts'])
    s.pacer.update(url, { rate: '6r/s' })
    expect(await sources()).toEqual(['interval: policyFor', 'burst: update', 'quota: hosts'])
  })

  test('takes nothing, and neither does peek', async () => {
    const s = new Setting(make(), { intervalMs: 1000, quotas: [{ limit: 2, windowMs: 60_000 }] })
    for (const _ of range(5)) {
      await s.pacer.explain(url)
      await s.pacer.peek(url)
    }
    s.sendAll(range(2))
    await s.pass(1000)
    expect(s.times).toEqual([0, 1000])
    expect(await s.pacer.peek(url)).toEqual({ waitMs: 59_000, layer: 'quota', queued: 0, inFlight: 0 })
  })

  test('peek stands behind all who wait, also behind a dear one', async () => {
    const s = new Setting(make(), { quotas: [{ limit: 5, windowMs: 100 }] })
    await s.send('four', { cost: 4 })
    s.sendAll(['two'], { cost: 2 })
    await s.pass(50)
    expect(await s.pacer.peek(url)).toEqual({ waitMs: 50, layer: 'quota', queued: 1, inFlight: 0 })
  })

  test('peek tells of a permit that is missing', async () => {
    const s = new Setting(make(), { rate: 1000, concurrency: 1 })
    await s.send('a', { keep: true })
    await s.pass(10)
    expect(await s.pacer.peek(url)).toEqual({ waitMs: 0, layer: 'concurrency', queued: 0, inFlight: 1 })
  })

  test('reserve stands behind all who wait', async () => {
    const s = new Setting(make(), { quotas: [{ limit: 5, windowMs: 100 }] })
    await s.send('four', { cost: 4 })
    s.sendAll(['two'], { cost: 2 })
    await s.pass(50)
    const reservation = await s.pacer.reserve(url)
    expect(reservation).toMatchObject({ waitMs: 50, departAtMs: 100, layer: 'quota' })
  })
})

describe.each(stores)('stats, $name', ({ make }) => {
  test('count departures, waits by layer, queue, flight, refusals and holds, by host and in all', async () => {
    const s = new Setting(make(), { intervalMs: 1000, hosts: { 'https://b.example': { rate: 1000, concurrency: 1 } } })
    const to = 'https://b.example/'
    s.sendAll(['a1', 'a2', 'a3', 'a4'], { keep: true })
    s.sendAll(['b1', 'b2'], { to, keep: true })
    await s.send('hasty', { maxWaitMs: 10 })
    await s.pass(2000)
    s.permits.get('b1')?.done()
    s.pacer.pause(url, 7000)
    await s.settle()
    expect(s.pacer.stats()).toEqual({
      hosts: {
        'https://a.example': {
          departures: 3,
          waits: { interval: { count: 2, ms: 3000 } },
          queued: 1,
          inFlight: 3,
          refused: 1,
          heldMs: 7000,
        },
        'https://b.example': {
          departures: 2,
          waits: { concurrency: { count: 1, ms: 2000 } },
          queued: 0,
          inFlight: 1,
          refused: 0,
          heldMs: 0,
        },
      },
      total: {
        departures: 5,
        waits: { interval: { count: 2, ms: 3000 }, concurrency: { count: 1, ms: 2000 } },
        queued: 1,
        inFlight: 4,
        refused: 1,
        heldMs: 7000,
      },
    })
  })

  test('what was given is a copy', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    s.sendAll(['a', 'b'])
    await s.pass(1000)
    const before = s.pacer.stats()
    s.sendAll(['c'])
    await s.pass(1000)
    expect(before.hosts['https://a.example']).toMatchObject({
      departures: 2,
      waits: { interval: { count: 1, ms: 1000 } },
    })
  })

  test('an abort is not a refusal, and neither is a close', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    const giveUp = new AbortController()
    s.sendAll(['a'])
    s.sendAll(['b'], { signal: giveUp.signal })
    s.sendAll(['c'])
    await s.settle()
    giveUp.abort()
    await s.pacer.close()
    expect(s.pacer.stats().total.refused).toBe(0)
  })

  test('the total remembers hosts that are forgotten', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    s.sendAll(['a', 'b'])
    await s.pass(10_000)
    s.pacer.sweep()
    const { hosts, total } = s.pacer.stats()
    expect(hosts).toEqual({})
    expect(total).toMatchObject({ departures: 2, waits: { interval: { count: 1, ms: 1000 } } })
  })
})

test('a pacer of its own reads the system clock', async () => {
  const pacer = createPacer({ intervalMs: 5 })
  const first = await pacer.wait(url)
  const startMs = performance.now()
  const second = await pacer.wait(url)
  expect(performance.now() - startMs).toBeGreaterThan(3)
  expect(second.waitedMs).toBeGreaterThan(0)
  first.done()
  second.done()
  await pacer.close()
})
