import { createPacer, type Pacer, type PacerOptions } from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'
import { createMonitor, type Monitor, type MonitorOptions } from '@hostpace/monitor'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { countListeners, Viewing } from './viewing.ts'

const a = 'https://a.example'
const b = 'https://b.example'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

interface Setting {
  readonly clock: ManualClock
  readonly pacer: Pacer
  readonly monitor: Monitor
}

function setting(pacerOptions: PacerOptions = {}, options?: MonitorOptions): Setting {
  const clock = new ManualClock()
  vi.spyOn(performance, 'now').mockImplementation(() => clock.now())
  const pacer = createPacer({ clock, ...pacerOptions })
  const monitor = createMonitor(pacer, options)
  onTestFinished(async () => {
    monitor.close()
    await pacer.close()
  })
  return { clock, pacer, monitor }
}

function send(pacer: Pacer, ...urls: string[]): void {
  for (const url of urls) pacer.run(url, () => ({ status: 200 })).catch(() => {})
}

/** The time of the next update has come. What is explained for one is in the one after it. */
async function tick(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  vi.advanceTimersByTime(1000)
  await new Promise((resolve) => setImmediate(resolve))
}

describe('updates', () => {
  test('the first tells of all hosts, those that follow of what has changed', async () => {
    const { clock, pacer, monitor } = setting({ intervalMs: 1000, adapt: false })
    send(pacer, a, a, a, b)
    await clock.advanceAsync(0)
    const viewing = await Viewing.of(monitor)
    const first = await viewing.next()
    expect(first).toMatchObject({ isFirst: true, hosts: 2, total: { departures: 2, queued: 2 } })
    expect(first.rows).toEqual([
      { key: a, departures: 1, queued: 2, inFlight: 0, refused: 0, waits: {}, heldUntilMs: 0 },
      { key: b, departures: 1, queued: 0, inFlight: 0, refused: 0, waits: {}, heldUntilMs: 0 },
    ])
    await clock.advanceAsync(1000)
    await tick()
    const second = await viewing.next()
    expect(second).toMatchObject({ isFirst: false, gone: [] })
    expect(second.rows).toMatchObject([
      { key: a, departures: 2, queued: 1, waits: { interval: { count: 1, ms: 1000 } } },
    ])
    await tick()
    expect((await viewing.next()).rows).toEqual([])
  })

  test('each departure is told once, with what it waited for', async () => {
    const { clock, pacer, monitor } = setting({ intervalMs: 1000, adapt: false })
    const viewing = await Viewing.of(monitor)
    expect((await viewing.next()).departures).toEqual([])
    send(pacer, a, a)
    await clock.advanceAsync(1000)
    await tick()
    const { departures, more } = await viewing.next()
    expect(departures.map(([key, , layer]) => [key, layer])).toEqual([
      [a, 'none'],
      [a, 'interval'],
    ])
    expect(departures.every(([, agoMs]) => agoMs >= 0)).toBe(true)
    expect(more).toBe(0)
    await tick()
    expect((await viewing.next()).departures).toEqual([])
  })

  test('departures beyond a thousand an update are counted and not listed', async () => {
    const { clock, pacer, monitor } = setting({ rate: 5000, adapt: false })
    const viewing = await Viewing.of(monitor)
    await viewing.next()
    send(pacer, ...Array.from({ length: 1500 }, () => a))
    await clock.advanceAsync(0)
    await tick()
    const { departures, more } = await viewing.next()
    expect([departures.length, more]).toEqual([1000, 500])
    await tick()
    expect((await viewing.next()).more).toBe(0)
  })

  test('a hold is told with its reason, also one from before anybody looked, until it ends', async () => {
    const { pacer, monitor } = setting({ intervalMs: 1000 })
    pacer.pause(a, 90_000, 'maintenance')
    const viewing = await Viewing.of(monitor)
    await viewing.next()
    await tick()
    await viewing.next()
    expect(viewing.rows.get(a)).toMatchObject({ heldUntilMs: 90_000, holdReason: 'maintenance' })
    pacer.observe(b, { status: 429, headers: { 'retry-after': '30' } })
    pacer.resume(a)
    await tick()
    await viewing.next()
    expect(viewing.rows.get(b)).toMatchObject({ heldUntilMs: 30_000, holdReason: '429 with a time to wait' })
    expect(viewing.rows.get(a)).toMatchObject({ heldUntilMs: 0 })
    expect(viewing.rows.get(a)).not.toHaveProperty('holdReason')
  })

  test('a hold that goes on is no news', async () => {
    const { clock, pacer, monitor } = setting()
    pacer.pause(a, 90_000)
    const viewing = await Viewing.of(monitor)
    for (let ticks = 0; ticks < 2; ticks++) {
      await viewing.next()
      await tick()
    }
    await viewing.next()
    await clock.advanceAsync(1500)
    await tick()
    expect(await viewing.next()).toMatchObject({ rows: [], atMs: 1500 })
    await clock.advanceAsync(90_000)
    await tick()
    expect((await viewing.next()).rows).toMatchObject([{ key: a, heldUntilMs: 0 }])
  })

  test('what was learned is told, and follows what is learned anew', async () => {
    const { clock, pacer, monitor } = setting()
    send(pacer, a)
    await clock.advanceAsync(0)
    pacer.observe(a, { status: 200, latencyMs: 300 })
    const viewing = await Viewing.of(monitor)
    await viewing.next()
    await tick()
    await viewing.next()
    expect(viewing.rows.get(a)?.learned).toMatch(/^a gap of \d+ ms, from /)
    const before = viewing.rows.get(a)?.learned
    pacer.observe(a, { status: 429 })
    await tick()
    await viewing.next()
    expect(viewing.rows.get(a)?.learned).toMatch(/^a gap of \d+ ms, from /)
    expect(viewing.rows.get(a)?.learned).not.toBe(before)
    const headers = { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '40', 'x-ratelimit-reset': '30' }
    pacer.observe(b, { status: 200, headers })
    for (let ticks = 0; ticks < 2; ticks++) {
      await tick()
      await viewing.next()
    }
    expect(viewing.rows.get(b)?.learned).toContain('40 of 60 left')
  })

  test('a host that is forgotten is taken away', async () => {
    const { clock, pacer, monitor } = setting({ rate: 1, adapt: false })
    send(pacer, a)
    await clock.advanceAsync(0)
    const viewing = await Viewing.of(monitor)
    await viewing.next()
    await clock.advanceAsync(2000)
    pacer.sweep()
    await tick()
    expect(await viewing.next()).toMatchObject({ gone: [a], rows: [], hosts: 0, total: { departures: 1 } })
    await tick()
    expect(await viewing.next()).toMatchObject({ gone: [], rows: [] })
  })

  test('with more hosts than are wanted, those that are held, then those with queues are told of', async () => {
    const { clock, pacer, monitor } = setting({ intervalMs: 1000, adapt: false }, { maxHosts: 2 })
    send(pacer, ...Array.from({ length: 50 }, (_, index) => `https://h${index}.example`))
    send(pacer, 'https://h7.example', 'https://h9.example', 'https://h9.example')
    pacer.pause('https://h30.example', 5000)
    await clock.advanceAsync(0)
    const viewing = await Viewing.of(monitor)
    const { hosts, rows } = await viewing.next()
    expect(hosts).toBe(50)
    expect(rows.map(({ key }) => key)).toEqual(['https://h30.example', 'https://h9.example'])
  })

  test('a viewer who does not read is sent nothing meanwhile, and then all that has changed', async () => {
    const { clock, pacer, monitor } = setting({ rate: 10, adapt: false })
    const viewing = await Viewing.of(monitor)
    await viewing.next()
    for (const url of [a, b, a]) {
      send(pacer, url)
      await clock.advanceAsync(1000)
      for (let ticks = 0; ticks < 50; ticks++) await tick()
    }
    await viewing.next()
    await tick()
    await viewing.next()
    expect(viewing.updates.length).toBe(3)
    expect([...viewing.rows.values()].map(({ departures }) => departures)).toEqual([2, 1])
  })

  test('keys of any kind are told of, and no host comes to be by being looked at', async () => {
    const { clock, pacer, monitor } = setting({ keyBy: (url) => url.pathname, rate: 10 })
    const keys = ['/feed', 'line\nbreak\u2028', 'data: x\n\ndata: y', '__proto__', 'https:', 'a.example:80', '/']
    for (const key of keys) void pacer.wait(`${a}/`, { key }).then((permit) => permit.done())
    send(pacer, `${a}/feed`)
    await clock.advanceAsync(0)
    const viewing = await Viewing.of(monitor)
    await viewing.next()
    pacer.pause(`${a}/feed`, 5000, 'we said so')
    await tick()
    await viewing.next()
    expect([...viewing.rows.keys()].sort()).toEqual([...keys].sort())
    expect(viewing.rows.get('/feed')).toMatchObject({ heldUntilMs: 5000, holdReason: 'we said so' })
  })

  test('where keys look like origins and are not, one is asked for at most', async () => {
    const { clock, pacer, monitor } = setting({ keyBy: (url) => url.host, rate: 10 })
    const explain = vi.spyOn(pacer, 'explain')
    for (const key of [a, b, 'https://c.example']) void pacer.wait(a, { key }).then((permit) => permit.done())
    await clock.advanceAsync(0)
    const viewing = await Viewing.of(monitor)
    for (let ticks = 0; ticks < 3; ticks++) {
      await tick()
      await viewing.next()
    }
    expect(explain).toHaveBeenCalledTimes(1)
  })

  test('of many hosts a bounded number is explained for one update, those that are held first', async () => {
    const { clock, pacer, monitor } = setting({ rate: 10, adapt: false })
    send(pacer, ...Array.from({ length: 500 }, (_, index) => `https://h${index}.example`))
    pacer.pause('https://h499.example', 60_000, 'the last')
    await clock.advanceAsync(0)
    const explain = vi.spyOn(pacer, 'explain')
    const viewing = await Viewing.of(monitor)
    await viewing.next()
    expect(explain.mock.calls[0]).toEqual(['https://h499.example'])
    for (let asked = 1, ticks = 0; ticks < 4; ticks++) {
      await tick()
      // Those for this update, and those that had to wait for the first.
      expect(explain.mock.calls.length - asked).toBeLessThanOrEqual(400)
      asked = explain.mock.calls.length
      await viewing.next()
    }
    expect(new Set(explain.mock.calls.flat()).size).toBe(500)
    expect(explain).toHaveBeenCalledTimes(500)
    expect(viewing.rows.get('https://h499.example')?.holdReason).toBe('the last')
  })

  test('a pacer that is closed meanwhile is still shown', async () => {
    const { clock, pacer, monitor } = setting({ rate: 10 })
    send(pacer, a)
    await clock.advanceAsync(0)
    const viewing = await Viewing.of(monitor)
    await viewing.next()
    await pacer.close()
    await tick()
    await viewing.next()
    expect(viewing.isOver).toBe(false)
  })
})

describe('viewers', () => {
  test('an answer that nobody reads is no viewer', async () => {
    const { pacer, monitor } = setting({ rate: 10 })
    const listeners = countListeners(pacer)
    const { body } = await monitor.fetch(new Request('https://ops.example/pace?events'))
    expect([listeners(), vi.getTimerCount()]).toEqual([0, 0])
    await body?.cancel()
  })

  test('without any there is no listener and no timer, after the last has left as before the first', async () => {
    const { pacer, monitor } = setting({ rate: 10 })
    const listeners = countListeners(pacer)
    await monitor.fetch(new Request('https://ops.example/pace'))
    expect([listeners(), vi.getTimerCount()]).toEqual([0, 0])
    const [one, other] = [await Viewing.of(monitor), await Viewing.of(monitor)]
    await Promise.all([one.next(), other.next()])
    expect(listeners()).toBeGreaterThan(0)
    expect(vi.getTimerCount()).toBe(1)
    const withTwo = listeners()
    await one.leave()
    expect([listeners(), vi.getTimerCount()]).toEqual([withTwo, 1])
    await other.leave()
    expect([listeners(), vi.getTimerCount()]).toEqual([0, 0])
    const again = await Viewing.of(monitor)
    await again.next()
    expect([listeners(), vi.getTimerCount()]).toEqual([withTwo, 1])
    await again.leave()
    expect(listeners()).toBe(0)
  })

  test('close sends all away, and may be called twice', async () => {
    const { pacer, monitor } = setting({ rate: 10 })
    const listeners = countListeners(pacer)
    const viewing = await Viewing.of(monitor)
    await viewing.next()
    monitor.close()
    monitor.close()
    await expect(viewing.next()).rejects.toThrow('ended')
    expect([listeners(), vi.getTimerCount()]).toEqual([0, 0])
  })

  test('an answer that is first read after the end has nothing to tell', async () => {
    const { pacer, monitor } = setting({ rate: 10 })
    const listeners = countListeners(pacer)
    const viewing = await Viewing.of(monitor)
    monitor.close()
    await expect(viewing.next()).rejects.toThrow('ended')
    expect([listeners(), vi.getTimerCount()]).toEqual([0, 0])
  })

  test('each is told all at first, whenever it comes', async () => {
    const { clock, pacer, monitor } = setting({ rate: 10, adapt: false })
    send(pacer, a)
    await clock.advanceAsync(0)
    const one = await Viewing.of(monitor)
    await one.next()
    send(pacer, b)
    await clock.advanceAsync(0)
    const other = await Viewing.of(monitor)
    expect((await other.next()).rows.map(({ key }) => key)).toEqual([a, b])
    await tick()
    expect((await one.next()).rows.map(({ key }) => key)).toEqual([b])
    expect((await other.next()).rows).toEqual([])
  })
})

test.each([
  [{ intervalMs: 99 }, 'options.intervalMs must be a number from 100 to 60000, got 99'],
  [{ intervalMs: Number.NaN }, 'options.intervalMs must be a number from 100 to 60000, got NaN'],
  [{ intervalMs: '1000' }, "options.intervalMs must be a number from 100 to 60000, got '1000'"],
  [{ intervalMs: {} }, 'options.intervalMs must be a number from 100 to 60000, got an object'],
  [{ maxHosts: 0 }, 'options.maxHosts must be a whole number from 1 to 100000, got 0'],
  [{ maxHosts: 1.5 }, 'options.maxHosts must be a whole number from 1 to 100000, got 1.5'],
  [{ maxHosts: [5] }, 'options.maxHosts must be a whole number from 1 to 100000, got an array'],
  [{ interval: 1000 }, 'options.interval is unknown; known here are intervalMs, maxHosts'],
  [null, 'options must be an object, got null'],
  ['fast', "options must be an object, got 'fast'"],
])('options that make no sense are refused by name, with what was given: %j', (options, message) => {
  const path = message.slice(0, message.indexOf(' '))
  expect(() => createMonitor(createPacer(), options as never)).toThrow(expect.objectContaining({ path, message }))
})

test('what is no pacer is refused', () => {
  expect(() => createMonitor({} as never)).toThrow(TypeError)
})
