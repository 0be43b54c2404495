import { memoryStore } from '@hostpace/core'
import { describe, expect, test } from 'vitest'
import { range, Setting, stores, url } from './support/pacer-setting.ts'

const fast = { rate: 1000, capacity: 1000 } as const

describe.each(stores)('concurrency, $name', ({ make }) => {
  test('so many are in flight and each that ends lets the next go', async () => {
    const s = new Setting(make(), { ...fast, concurrency: 2 })
    s.sendAll(range(5), { keep: true })
    await s.pass(100)
    expect(s.starts).toEqual(['0@0', '1@0'])
    s.permits.get('1')?.done()
    await s.pass(100)
    expect(s.starts).toEqual(['0@0', '1@0', '2@100'])
    for (const name of range(5)) {
      s.permits.get(String(name))?.done()
      await s.settle()
    }
    expect(s.names).toEqual(['0', '1', '2', '3', '4'])
    expect(s.pacer.stats().hosts['https://a.example']?.inFlight).toBe(0)
    expect((await s.pacer.peek(url)).inFlight).toBe(0)
  })

  test('a second done frees nothing more', async () => {
    const s = new Setting(make(), { ...fast, concurrency: 1 })
    s.sendAll(['a', 'b', 'c'], { keep: true })
    await s.settle()
    s.permits.get('a')?.done({ status: 200 })
    s.permits.get('a')?.done({ status: 200 })
    s.permits.get('a')?.done()
    await s.settle()
    expect(s.names).toEqual(['a', 'b'])
  })

  test('the permit is taken only after the wait for the rate', async () => {
    const s = new Setting(make(), { intervalMs: 1000, concurrency: 1 })
    await s.send('a', { keep: true })
    s.sendAll(['b'])
    await s.pass(500)
    s.permits.get('a')?.done()
    await s.pass(499)
    expect(s.names).toEqual(['a'])
    await s.pass(1)
    expect(s.starts).toEqual(['a@0', 'b@1000'])
  })

  test('one that waits for a permit holds no slot: the interval counts from its departure', async () => {
    const s = new Setting(make(), { intervalMs: 1000, concurrency: 1 })
    s.sendAll(['a', 'b', 'c'], { keep: true })
    await s.pass(5300)
    s.permits.get('a')?.done()
    await s.pass(10)
    s.permits.get('b')?.done()
    await s.pass(5000)
    expect(s.starts).toEqual(['a@0', 'b@5300', 'c@6300'])
    expect(s.permits.get('b')?.layer).toBe('concurrency')
  })

  test('an abort while waiting for a permit leaves no hole', async () => {
    const s = new Setting(make(), { ...fast, concurrency: 1 })
    const giveUp = new AbortController()
    await s.send('a', { keep: true })
    s.sendAll(['b'], { signal: giveUp.signal })
    s.sendAll(['c'])
    await s.settle()
    giveUp.abort()
    await s.settle()
    expect(s.names).toEqual(['a'])
    s.permits.get('a')?.done()
    await s.settle()
    expect(s.names).toEqual(['a', 'c'])
  })

  test('a limit that is raised lets more go at once; one that is lowered waits until few enough are left', async () => {
    const s = new Setting(make(), { ...fast, concurrency: 1 })
    s.sendAll(range(6), { keep: true })
    await s.settle()
    s.pacer.update(url, { concurrency: 3 })
    await s.settle()
    expect(s.names).toEqual(['0', '1', '2'])
    s.pacer.update(url, { concurrency: 1 })
    for (const name of ['0', '1']) {
      s.permits.get(name)?.done()
      await s.settle()
    }
    expect(s.names).toEqual(['0', '1', '2'])
    s.permits.get('2')?.done()
    await s.settle()
    expect(s.names).toEqual(['0', '1', '2', '3'])
  })

  test('a limit that comes later counts those who are in flight already', async () => {
    const s = new Setting(make(), fast)
    s.sendAll(range(3), { keep: true })
    await s.settle()
    s.pacer.update(url, { concurrency: 2 })
    s.sendAll(['late', 'later'], { keep: true })
    await s.settle()
    expect(s.names).toEqual(['0', '1', '2'])
    s.permits.get('0')?.done()
    await s.settle()
    expect(s.names).toEqual(['0', '1', '2'])
    s.permits.get('1')?.done()
    await s.settle()
    expect(s.names).toEqual(['0', '1', '2', 'late'])
    s.permits.get('2')?.done()
    await s.settle()
    expect(s.names).toEqual(['0', '1', '2', 'late', 'later'])
    s.permits.get('late')?.done()
    s.permits.get('later')?.done()
    await s.settle()
    expect((await s.pacer.explain(url)).inFlight).toBe(0)
    s.sendAll(['x', 'y', 'z'], { keep: true })
    await s.settle()
    expect(s.names.slice(5)).toEqual(['x', 'y'])
  })

  test('a limit that comes while requests ask to leave binds them', async () => {
    const s = new Setting(make(), fast)
    await s.send('before', { keep: true })
    s.sendAll(range(3), { keep: true })
    s.pacer.update(url, { concurrency: 2 })
    await s.pass(100)
    const left = s.starts.length
    for (const name of s.names) s.permits.get(name)?.done()
    await s.settle()
    // What had left before the limit came counts, and nothing is counted twice.
    expect(left).toBe(make === stores[0]?.make ? 4 : 2)
    expect(s.starts).toHaveLength(4)
    for (const name of s.names) s.permits.get(name)?.done()
    await s.settle()
    s.sendAll(['x', 'y', 'z'], { keep: true })
    await s.settle()
    expect(s.names.slice(4)).toEqual(['x', 'y'])
  })

  test('other fields may change under way without the count drifting', async () => {
    const s = new Setting(make(), { ...fast, concurrency: 2 })
    for (const round of range(5)) {
      s.sendAll([`${round}a`, `${round}b`, `${round}c`], { keep: true })
      s.pacer.update(url, { maxQueue: 10 + round, rate: 1000 + round })
      await s.settle()
      expect(s.names.filter((name) => name.startsWith(String(round)))).toHaveLength(2)
      for (const letter of 'abc') {
        s.permits.get(round + letter)?.done()
        await s.settle()
      }
    }
    expect(s.starts).toHaveLength(15)
  })

  test('a failed request, an unobserved one and one never sent all free the permit', async () => {
    const s = new Setting(make(), { ...fast, concurrency: 1 })
    s.sendAll(['a', 'b', 'c', 'd'], { keep: true, reportsSent: true })
    await s.settle()
    s.permits.get('a')?.done({ error: new Error('reset') })
    await s.settle()
    s.permits.get('b')?.done()
    await s.settle()
    s.permits.get('c')?.sent()
    s.permits.get('c')?.done({ status: 500 })
    await s.settle()
    expect(s.names).toEqual(['a', 'b', 'c', 'd'])
  })
})

test('a permit that comes free in one pacer lets a request of another on the same store go', async () => {
  const store = memoryStore()
  const one = new Setting(store, { ...fast, concurrency: 1 })
  const other = new Setting(store, { ...fast, concurrency: 1 }, one.clock)
  await one.send('a', { keep: true })
  other.sendAll(['b'])
  await one.settle()
  expect(other.names).toEqual([])
  one.permits.get('a')?.done()
  await one.settle()
  expect(other.names).toEqual(['b'])
})
