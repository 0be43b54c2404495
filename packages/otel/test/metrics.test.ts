import { createPacer } from '@hostpace/core'
import { type InstrumentOptions, instrument } from '@hostpace/otel'
import { AggregationTemporality, DataPointType, type Histogram } from '@opentelemetry/sdk-metrics'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { pointsOf, Setting } from './setting.ts'

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

  describe.each([
    ['cumulative', AggregationTemporality.CUMULATIVE],
    ['delta', AggregationTemporality.DELTA],
  ])('to a reader that is %s, with another besides,', (_, temporality) => {
    const other =
      temporality === AggregationTemporality.DELTA ? AggregationTemporality.CUMULATIVE : AggregationTemporality.DELTA

    /** Two requests wait for `a`, which is held; everybody has seen it. */
    async function held(options?: InstrumentOptions): Promise<Setting> {
      const s = new Setting({ intervalMs: 1000 }, options)
      s.send(a, a, a)
      s.pacer.pause(a, 5000)
      await s.clock.advanceAsync(0)
      for (const reader of [temporality, other]) {
        expect(await s.points('hostpace.queue', reader)).toEqual([[2, expect.any(String)]])
        expect(await s.points('hostpace.held', reader)).toEqual([[5, expect.any(String)]])
      }
      return s
    }

    /** Lets all depart and recover, so that the pacer forgets the host. */
    async function forget(s: Setting): Promise<void> {
      await s.clock.advanceAsync(3_600_000)
      expect(s.pacer.stats().hosts).toEqual({})
    }

    test.each([
      ['a host', a, {}],
      ['the last of those that share a name', '_OTHER', { maxHosts: 0 }],
    ])('%s that the pacer has forgotten is at 0 for good, whoever looks first', async (_, name, options) => {
      const s = await held(options)
      await forget(s)
      for (const reader of [other, temporality, temporality]) {
        expect(await s.points('hostpace.held', reader)).toEqual([[0, name]])
        expect(await s.points('hostpace.queue', reader)).toEqual([[0, name]])
      }
      s.pacer.pause(a, 7000)
      expect(await s.points('hostpace.held', temporality)).toEqual([[7, name]])
    })

    test('after the end all are at 0 once, whoever looks first, and then nobody is asked', async () => {
      const s = await held()
      s.end()
      await s.metrics(other)
      const stats = vi.spyOn(s.pacer, 'stats')
      const metrics = await s.metrics(temporality)
      expect(pointsOf(metrics.get('hostpace.queue'))).toEqual([[0, a]])
      expect(pointsOf(metrics.get('hostpace.held'))).toEqual([[0, a]])
      expect(stats).not.toHaveBeenCalled()
    })

    test('what is instrumented anew after the end is shown as it is', async () => {
      const s = await held()
      s.end()
      onTestFinished(instrument(s.pacer, { meter: s.meter }))
      expect(await s.points('hostpace.held', temporality)).toEqual([[5, a]])
      expect(await s.points('hostpace.queue', other)).toEqual([[2, a]])
    })
  })

  test('what has ended leaves no callback with the SDK, whether anybody looked or not', async () => {
    const s = new Setting({ intervalMs: 1000 })
    s.pacer.pause(a, 5000)
    const added = vi.spyOn(s.meter, 'addBatchObservableCallback')
    const removed = vi.spyOn(s.meter, 'removeBatchObservableCallback')
    const callbacks = (spy: typeof added) => spy.mock.calls.map(([callback]) => callback)
    instrument(s.pacer, { meter: s.meter })()
    expect(callbacks(removed)).toEqual(callbacks(added))
    const end = instrument(s.pacer, { meter: s.meter })
    await s.metrics()
    end()
    await s.metrics()
    expect(callbacks(removed)).toEqual(callbacks(added))
    expect(added).toHaveBeenCalledTimes(3)
  })

  test('the last look of one that has ended leaves no other callback out', async () => {
    const s = new Setting({ intervalMs: 1000 })
    s.pacer.pause(a, 5000)
    await s.metrics()
    s.end()
    const behind = s.meter.createObservableGauge('behind')
    const observe = vi.fn()
    s.meter.addBatchObservableCallback(observe, [behind])
    await s.metrics()
    expect(observe).toHaveBeenCalledTimes(1)
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
  [{ maxHosts: -1 }, 'options.maxHosts must be a whole number of 0 or more, got -1'],
  [{ maxHosts: 1.5 }, 'options.maxHosts must be a whole number of 0 or more, got 1.5'],
  [{ maxHosts: '10' }, "options.maxHosts must be a whole number of 0 or more, got '10'"],
  [{ maxHosts: [10] }, 'options.maxHosts must be a whole number of 0 or more, got an array'],
  [{ meter: {} }, 'options.meter must be a Meter, got an object'],
  [{ meter: null }, 'options.meter must be a Meter, got null'],
  [{ attributes: 'crawler' }, "options.attributes must be an object, got 'crawler'"],
  [{ maxHost: 10 }, 'options.maxHost is unknown; known here are meter, maxHosts, attributes'],
  [null, 'options must be an object, got null'],
])('options that make no sense are refused by name, with what was given: %j', async (options, message) => {
  const pacer = createPacer()
  const path = message.slice(0, message.indexOf(' '))
  expect(() => instrument(pacer, options as never)).toThrow(expect.objectContaining({ path, message }))
  await pacer.close()
})

test('what is no pacer is refused', () => {
  expect(() => instrument({} as never)).toThrow(TypeError)
})
