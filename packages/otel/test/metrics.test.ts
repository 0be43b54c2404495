import { createPacer } from '@hostpace/core'
import { instrument } from '@hostpace/otel'
import { DataPointType, type Histogram } from '@opentelemetry/sdk-metrics'
import { describe, expect, test } from 'vitest'
import { Setting } from './setting.ts'

const a = 'https://a.example'
const b = 'https://b.example'

describe('metrics', () => {
  test('the waits of all that departed, in seconds, by host and layer', async () => {
    const s = new Setting({ intervalMs: 2000, hosts: { [b]: { rate: '1r/s' } } })
    s.send(a, a, a, b, b)
    await s.clock.advanceAsync(4000)
    expect(await s.points('hostpace.wait')).toEqual([
      ['1 in 0', a, 'none'],
      ['1 in 0', b, 'none'],
      ['2 in 6', a, 'interval'],
      ['1 in 2', b, 'interval'],
    ])
    const wait = (await s.metrics()).get('hostpace.wait')
    expect(wait).toMatchObject({ dataPointType: DataPointType.HISTOGRAM, descriptor: { unit: 's' } })
  })

  test('a wait of hours is told from one of minutes', async () => {
    const s = new Setting({ intervalMs: 60_000 })
    s.send(a, a)
    s.pacer.pause(a, 7_200_000)
    await s.clock.advanceAsync(7_300_000)
    const last = (await s.metrics()).get('hostpace.wait')?.dataPoints.at(-1)?.value as Histogram
    const { boundaries, counts } = last.buckets
    const place = counts.findIndex((count) => count > 0)
    expect([boundaries[place - 1], boundaries[place]]).toEqual([3600, 21_600])
  })

  test('departures and refusals, by host; refusals by what they are refused with', async () => {
    const s = new Setting({ intervalMs: 1000, maxQueue: 1 })
    const giveUp = [AbortSignal.abort(), new AbortController()] as const
    s.send(a, a, a, a)
    await s.clock.advanceAsync(1000)
    const waits = [
      s.pacer.wait(b).then((permit) => permit.done()),
      s.pacer.wait(b, { maxWaitMs: 1 }),
      s.pacer.wait(b, { signal: giveUp[1].signal }),
    ]
    giveUp[1].abort(new Error('a reason of the program, with a name of its own'))
    await Promise.allSettled(waits)
    expect(await s.points('hostpace.departures')).toEqual([
      [2, a],
      [1, b],
    ])
    expect(await s.points('hostpace.refusals')).toEqual([
      [2, a, 'ERR_HOSTPACE_QUEUE_FULL'],
      [1, b, 'ERR_HOSTPACE_WAIT_TOO_LONG'],
      [1, b, '_OTHER'],
    ])
  })

  test('the queue and the hold of each host, as they are when they are read', async () => {
    const s = new Setting({ intervalMs: 1000 })
    s.send(a, a, a)
    s.pacer.pause(b, 90_000)
    await s.clock.advanceAsync(0)
    expect(await s.points('hostpace.queue')).toEqual([
      [2, a],
      [0, b],
    ])
    await s.clock.advanceAsync(1000)
    expect(await s.points('hostpace.queue')).toEqual([
      [1, a],
      [0, b],
    ])
    expect(await s.points('hostpace.held')).toEqual([
      [0, a],
      [89, b],
    ])
  })

  test('no more hosts than are wanted have a name, whatever comes; none of their requests is lost', async () => {
    const s = new Setting({ rate: 1000, capacity: 1 }, { maxHosts: 2 })
    const hosts = Array.from({ length: 500 }, (_, index) => `https://h${index}.example`)
    s.send(...hosts, ...hosts)
    s.pacer.pause('https://h7.example', 5000)
    s.pacer.pause('https://h8.example', 9000)
    await s.clock.advanceAsync(0)
    expect(await s.points('hostpace.held')).toEqual([
      [0, 'https://h0.example'],
      [0, 'https://h1.example'],
      [9, '_OTHER'],
    ])
    expect(await s.points('hostpace.queue')).toEqual([
      [1, 'https://h0.example'],
      [1, 'https://h1.example'],
      [498, '_OTHER'],
    ])
    await s.clock.advanceAsync(20_000)
    expect(await s.points('hostpace.departures')).toEqual([
      [2, 'https://h0.example'],
      [2, 'https://h1.example'],
      [996, '_OTHER'],
    ])
  })

  test('all carry the attributes that are given', async () => {
    const s = new Setting({ rate: 10 }, { attributes: { 'service.part': 'crawler' } })
    s.send(a)
    await s.clock.advanceAsync(0)
    for (const name of ['hostpace.wait', 'hostpace.departures', 'hostpace.queue', 'hostpace.held']) {
      expect((await s.metrics()).get(name)?.dataPoints[0]?.attributes).toMatchObject({ 'service.part': 'crawler' })
    }
  })

  test('after the end nothing is told, and it may be ended twice', async () => {
    const s = new Setting({ rate: 10 })
    s.send(a)
    await s.clock.advanceAsync(0)
    s.end()
    s.end()
    s.send(a)
    await s.clock.advanceAsync(1000)
    expect(await s.points('hostpace.departures')).toEqual([[1, a]])
    expect(await s.points('hostpace.queue')).toEqual([])
  })

  test('without an SDK it does nothing, and harms nothing', async () => {
    const pacer = createPacer({ rate: 10 })
    const end = instrument(pacer)
    const permit = await pacer.wait(a)
    permit.done()
    end()
    await pacer.close()
  })
})

test.each([
  [{ maxHosts: -1 }, 'options.maxHosts'],
  [{ maxHosts: 1.5 }, 'options.maxHosts'],
  [{ maxHosts: '10' }, 'options.maxHosts'],
  [{ meter: {} }, 'options.meter'],
  [{ meter: null }, 'options.meter'],
  [{ attributes: 'crawler' }, 'options.attributes'],
  [{ maxHost: 10 }, 'options.maxHost'],
  [null, 'options'],
])('options that make no sense are refused by name: %j', async (options, path) => {
  const pacer = createPacer()
  expect(() => instrument(pacer, options as never)).toThrow(expect.objectContaining({ path }))
  await pacer.close()
})

test('what is no pacer is refused', () => {
  expect(() => instrument({} as never)).toThrow(TypeError)
})
