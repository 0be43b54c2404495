import type { PacerEventName, PacerEvents } from '@hostpace/core'
import { describe, expect, test } from 'vitest'
import { range, Setting, stores, url } from './support/pacer-setting.ts'

const key = 'https://a.example'

function hear<Name extends PacerEventName>(s: Setting, name: Name): PacerEvents[Name][] {
  const heard: PacerEvents[Name][] = []
  s.pacer.on(name, (event) => heard.push(event))
  return heard
}

describe.each(stores)('events, $name', ({ make }) => {
  test('depart names the host, the wait, the layer and the cost', async () => {
    const s = new Setting(make(), { rate: '2r/s', capacity: 2 })
    const heard = hear(s, 'depart')
    s.sendAll(['a'], { cost: 2 })
    s.sendAll(['b'])
    await s.pass(500)
    expect(heard).toEqual([
      { key, waitedMs: 0, layer: 'none', cost: 2 },
      { key, waitedMs: 500, layer: 'burst', cost: 1 },
    ])
  })

  test('wait is told of the head, once for each that gets there', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    const heard = hear(s, 'wait')
    s.sendAll(range(3))
    await s.pass(5000)
    expect(heard).toEqual([
      { key, waitMs: 1000, layer: 'interval', queued: expect.any(Number) },
      { key, waitMs: 1000, layer: 'interval', queued: 1 },
    ])
  })

  test('wait for a permit has no end that anybody knows', async () => {
    const s = new Setting(make(), { rate: 1000, concurrency: 1 })
    const heard = hear(s, 'wait')
    s.sendAll(['a', 'b'], { keep: true })
    await s.settle()
    expect(heard).toEqual([{ key, waitMs: Number.POSITIVE_INFINITY, layer: 'concurrency', queued: 1 }])
  })

  test('reject carries what the request rejects with', async () => {
    const s = new Setting(make(), { intervalMs: 1000, maxQueue: 1 })
    const heard = hear(s, 'reject')
    const giveUp = new AbortController()
    await s.send('a')
    s.sendAll(['quits'], { signal: giveUp.signal })
    await s.settle()
    await s.send('full')
    await s.pass(300)
    giveUp.abort('enough')
    await s.send('hasty', { maxWaitMs: 1 })
    s.sendAll(['closed'])
    await s.settle()
    await s.pacer.close()
    await s.settle()
    expect(heard).toEqual([
      { key, waitedMs: 0, error: s.refusal('full') },
      { key, waitedMs: 300, error: 'enough' },
      { key, waitedMs: 0, error: s.refusal('hasty') },
      { key, waitedMs: 0, error: s.refusal('closed') },
    ])
  })

  test('observe hands on the outcome and tells whether the host had too much', async () => {
    const s = new Setting(make(), { rate: 1000, adapt: false })
    const heard = hear(s, 'observe')
    const headers = { 'retry-after': '5' }
    for (const outcome of [{ status: 200, latencyMs: 7 }, { status: 429 }, { status: 503 }, { status: 503, headers }]) {
      await s.send('a', { keep: true })
      s.permits.get('a')?.done(outcome)
    }
    const error = new Error('reset')
    s.pacer.observe(url, { error })
    expect(heard).toEqual([
      { key, status: 200, latencyMs: 7, limited: false },
      { key, status: 429, limited: true },
      { key, status: 503, limited: false },
      { key, status: 503, headers, limited: true },
      { key, error, limited: false },
    ])
  })

  test('pause is told when a host is held and when it is let go', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    const heard = hear(s, 'pause')
    s.pacer.pause(url, 5000, 'maintenance')
    s.pacer.pause(url, 4000, 'shorter')
    s.pacer.observe(url, { status: 429, headers: { 'retry-after': '60' } })
    s.pacer.resume(url)
    await s.settle()
    expect(heard).toEqual([
      { key, waitMs: 5000, reason: 'maintenance', layer: 'pause' },
      { key, waitMs: 60_000, reason: '429 with a time to wait', layer: 'pause' },
      { key, waitMs: 0, reason: 'resumed', layer: 'pause' },
    ])
  })

  test('a listener that has ended hears nothing more, and may end twice', async () => {
    const s = new Setting(make(), { rate: 1000 })
    const heard: string[] = []
    const end = s.pacer.on('depart', () => heard.push('one'))
    s.pacer.on('depart', () => heard.push('two'))
    await s.send('a')
    end()
    end()
    await s.send('b')
    expect(heard).toEqual(['one', 'two', 'two'])
  })

  test('a listener that throws costs nobody a slot; its error surfaces on its own', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    const uncaught: unknown[] = []
    const before = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    process.on('uncaughtException', (error) => uncaught.push(error))
    const mistake = new Error('in the listener')
    s.pacer.on('depart', () => {
      throw mistake
    })
    s.sendAll(['a', 'b'])
    await s.pass(1000)
    process.removeAllListeners('uncaughtException')
    for (const listener of before) process.on('uncaughtException', listener)
    expect(s.starts).toEqual(['a@0', 'b@1000'])
    expect(uncaught).toEqual([mistake, mistake])
  })

  test('where nobody listens no event is made', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    s.pacer.on('observe', () => {})()
    let copies = 0
    const outcome = {
      status: 200,
      get error() {
        copies++
        return undefined
      },
    }
    await s.send('a', { keep: true })
    s.permits.get('a')?.observe(outcome)
    expect(copies).toBe(0)
  })
})

describe.each(stores)('listeners that act, $name', ({ make }) => {
  test('an abort within depart comes too late and loses no permit', async () => {
    const s = new Setting(make(), { rate: '1r/s', concurrency: 1 })
    const giveUp = new AbortController()
    await s.send('first', { keep: true })
    s.sendAll(['second'], { signal: giveUp.signal, keep: true })
    s.pacer.on('depart', () => giveUp.abort())
    await s.pass(1000)
    s.permits.get('first')?.done()
    await s.settle()
    expect(s.names).toEqual(['first', 'second'])
    expect(s.pacer.stats().total).toMatchObject({ inFlight: 1, refused: 0 })
    s.permits.get('second')?.done()
    expect((await s.pacer.explain(url)).inFlight).toBe(0)
  })

  test('an abort of the head within wait leaves no timer behind', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    const giveUp = new AbortController()
    await s.send('first')
    const end = s.pacer.on('wait', () => giveUp.abort())
    s.sendAll(['head'], { signal: giveUp.signal })
    await s.settle()
    expect(s.refusals.has('head')).toBe(true)
    expect(s.clock.timers).toBe(0)
    end()
    s.sendAll(['next'])
    await s.pass(1000)
    expect(s.starts).toEqual(['first@0', 'next@1000'])
  })

  test('an abort of others within reject refuses each of them once', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    const one = new AbortController()
    const other = new AbortController()
    await s.send('first')
    s.sendAll(['a'], { signal: one.signal })
    s.sendAll(['b'], { signal: other.signal })
    s.sendAll(['c'])
    await s.settle()
    const heard = hear(s, 'reject')
    s.pacer.on('reject', () => other.abort('follows'))
    one.abort('leads')
    await s.pass(1000)
    expect(heard.map((event) => event.error)).toEqual(['leads', 'follows'])
    expect(s.starts).toEqual(['first@0', 'c@1000'])
  })

  test('a close within reject, and an abort within the close, refuse each once', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    const giveUp = new AbortController()
    s.sendAll(range(3))
    s.sendAll(['signalled'], { signal: giveUp.signal })
    await s.settle()
    const heard = hear(s, 'reject')
    s.pacer.on('reject', () => {
      void s.pacer.close()
      giveUp.abort()
    })
    await s.send('hasty', { maxWaitMs: 1 })
    await s.settle()
    expect(heard).toHaveLength(4)
    expect(s.refusals.size).toBe(4)
    expect(s.clock.timers).toBe(0)
  })

  test('those refused at once by a pause may close the pacer', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    s.sendAll(range(5), { maxWaitMs: 10_000 })
    await s.settle()
    const heard = hear(s, 'reject')
    s.pacer.on('reject', () => void s.pacer.close())
    s.pacer.pause(url, 60_000)
    await s.settle()
    expect(heard).toHaveLength(4)
    expect(s.clock.timers).toBe(0)
  })

  test('a wait within depart lines up behind and is not lost', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    let more = 3
    s.pacer.on('depart', () => {
      if (more-- > 0) void s.send(`more${more}`)
    })
    s.sendAll(['a', 'b'])
    await s.pass(10_000)
    expect([...s.names].sort()).toEqual(['a', 'b', 'more0', 'more1', 'more2'])
    expect(s.times).toEqual([0, 1000, 2000, 3000, 4000])
    expect(s.clock.timers).toBe(0)
  })

  test('pause, resume and update within events apply', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    s.pacer.on('depart', () => s.pacer.pause(url, 3000))
    s.pacer.on('pause', ({ reason }) => {
      if (reason !== 'resumed') s.pacer.update(url, { intervalMs: 500 })
    })
    s.sendAll(range(3))
    await s.pass(10_000)
    expect(s.times).toEqual([0, 3000, 6000])
  })

  test('done within observe frees the permit once', async () => {
    const s = new Setting(make(), { rate: 1000, concurrency: 2 })
    s.sendAll(range(5), { keep: true })
    await s.settle()
    s.pacer.on('observe', () => s.permits.get('0')?.done({ status: 200 }))
    s.permits.get('0')?.done({ status: 200 })
    await s.settle()
    expect(s.names).toEqual(['0', '1', '2'])
    expect(s.pacer.stats().total.inFlight).toBe(2)
  })

  test('a wait right after done gets the permit that came free only if nobody is before it', async () => {
    const s = new Setting(make(), { rate: 1000, concurrency: 1 })
    await s.send('a', { keep: true })
    s.sendAll(['b'], { keep: true })
    await s.settle()
    s.permits.get('a')?.done()
    s.sendAll(['c'])
    await s.settle()
    expect(s.names).toEqual(['a', 'b'])
  })
})
