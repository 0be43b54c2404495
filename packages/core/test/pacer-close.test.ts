import { createPacer, memoryStore, PacerClosedError, toPacer } from '@hostpace/core'
import { describe, expect, test } from 'vitest'
import { range, Setting, stores, url } from './support/pacer-setting.ts'

describe.each(stores)('close, $name', ({ make }) => {
  test('rejects those who wait on every host and stops the timer', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    s.sendAll(range(3))
    s.sendAll(['x', 'y'], { to: 'https://b.example/' })
    await s.settle()
    await s.pacer.close()
    await s.settle()
    expect([...s.refusals.keys()]).toEqual(['1', '2', 'y'])
    expect(s.refusal('y')).toBeInstanceOf(PacerClosedError)
    expect(s.refusal('y').code).toBe('ERR_HOSTPACE_CLOSED')
    expect(s.clock.timers).toBe(0)
  })

  test('rejects whoever comes after it, by every way in', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    await s.pacer.close()
    await s.pacer.close()
    for (const call of [s.pacer.wait(url), s.pacer.reserve(url), s.pacer.peek(url), s.pacer.explain(url)]) {
      await expect(call).rejects.toBeInstanceOf(PacerClosedError)
    }
  })

  test('rejects those whose policy is being looked up, which may still come', async () => {
    let give: (policy: object) => void = () => {}
    const s = new Setting(make(), { policyFor: () => new Promise((resolve) => (give = resolve)) })
    s.sendAll(['a'])
    await s.settle()
    await s.pacer.close()
    give({ intervalMs: 5 })
    await s.pass(1000)
    expect(s.refusal('a')).toBeInstanceOf(PacerClosedError)
    expect(s.starts).toEqual([])
    expect(s.clock.timers).toBe(0)
  })

  test('permits that are out may still report', async () => {
    const s = new Setting(make(), { rate: 1000, concurrency: 1 })
    await s.send('a', { keep: true, reportsSent: true })
    await s.pacer.close()
    s.permits.get('a')?.sent()
    s.permits.get('a')?.observe({ status: 429 })
    s.permits.get('a')?.done({ status: 200 })
    expect(s.pacer.stats().total.inFlight).toBe(0)
    expect(s.clock.timers).toBe(0)
  })

  test('await using closes', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    await s.pacer[Symbol.asyncDispose]()
    await expect(s.pacer.wait(url)).rejects.toBeInstanceOf(PacerClosedError)
  })

  test('a store that was handed in stays open for others, with the credit that was used', async () => {
    const store = make()
    let closes = 0
    const { close } = store
    store.close = () => {
      closes++
      return close.call(store)
    }
    const one = new Setting(store, { intervalMs: 1000 })
    const other = new Setting(store, { intervalMs: 1000 }, one.clock)
    await one.send('a')
    await one.pacer.close()
    other.sendAll(['b'])
    await one.pass(1000)
    expect(other.starts).toEqual(['b@1000'])
    expect(closes).toBe(0)
  })

  test('the hosts of permits that are out are not forgotten by others', async () => {
    const store = make()
    const one = new Setting(store, { intervalMs: 1000 })
    const other = new Setting(store, { intervalMs: 1000 }, one.clock)
    await one.send('a', { keep: true })
    await one.pacer.close()
    await one.pass(60_000)
    other.pacer.sweep()
    expect(store.hosts.size).toBe(1)
    one.permits.get('a')?.done()
    other.pacer.sweep()
    expect(store.hosts.size).toBe(0)
  })
})

test('pacers on one store with one policy share its credit', async () => {
  const store = memoryStore()
  const one = new Setting(store, { intervalMs: 1000 })
  const other = new Setting(store, { intervalMs: 1000 }, one.clock)
  one.sendAll(['a', 'b'])
  other.sendAll(['x', 'y'])
  await one.pass(10_000)
  const times = [...one.times, ...other.times].sort((a, b) => a - b)
  expect(times).toEqual([0, 1000, 2000, 3000])
})

test('toPacer passes a pacer on and makes one of options', () => {
  const pacer = createPacer()
  expect(toPacer(pacer)).toBe(pacer)
  const options = { rate: '5r/s' }
  expect(toPacer(options)).not.toBe(options)
  expect(typeof toPacer(options).wait).toBe('function')
  expect(typeof toPacer().wait).toBe('function')
  // A pacer of another copy of this package carries the same mark.
  const foreign = Object.defineProperty({}, Symbol.for('hostpace.pacer'), { value: true }) as typeof pacer
  expect(toPacer(foreign)).toBe(foreign)
  for (const wrong of ['10r/s', 5, null]) expect(() => toPacer(wrong as never)).toThrow(/^options must be/)
  expect(() => toPacer({ speed: 5 } as never)).toThrow('options.speed')
})
