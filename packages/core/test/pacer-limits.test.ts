import { QueueFullError, RateLimitedError, WaitTooLongError } from '@hostpace/core'
import { describe, expect, test } from 'vitest'
import { asyncStore } from './support/async-store.ts'
import { range, Setting, stores, url } from './support/pacer-setting.ts'

describe.each(stores)('maxQueue, $name', ({ make }) => {
  test('one more than maxQueue is refused, and only while the queue is full', async () => {
    const s = new Setting(make(), { intervalMs: 1000, maxQueue: 2 })
    s.sendAll(range(4))
    await s.settle()
    expect(s.refusal<QueueFullError>('3')).toBeInstanceOf(QueueFullError)
    expect(s.refusal<QueueFullError>('3')).toMatchObject({
      code: 'ERR_HOSTPACE_QUEUE_FULL',
      key: 'https://a.example',
      maxQueue: 2,
    })
    await s.pass(1000)
    s.sendAll(['later'])
    await s.pass(5000)
    expect(s.starts).toEqual(['0@0', '1@1000', '2@2000', 'later@3000'])
  })

  test('where nobody may go now, the first maxQueue wait and the rest are refused', async () => {
    const s = new Setting(make(), { intervalMs: 1000, maxQueue: 2 })
    await s.send('first')
    s.sendAll(['a', 'b', 'c', 'd'])
    await s.settle()
    expect([...s.refusals.keys()].sort()).toEqual(['c', 'd'])
    s.sendAll(['high'], { priority: 1 })
    await s.pass(5000)
    expect(s.refusal('high')).toBeInstanceOf(QueueFullError)
    expect(s.names).toEqual(['first', 'a', 'b'])
  })

  test('an abandoned place is free', async () => {
    const s = new Setting(make(), { intervalMs: 1000, maxQueue: 1 })
    const giveUp = new AbortController()
    await s.send('first')
    s.sendAll(['quits'], { signal: giveUp.signal })
    await s.settle()
    giveUp.abort()
    s.sendAll(['second'])
    await s.pass(1000)
    expect(s.starts).toEqual(['first@0', 'second@1000'])
  })

  test('those who came while the policy was looked up are bound by it too', async () => {
    const s = new Setting(make(), { policyFor: async () => ({ intervalMs: 1000, maxQueue: 2 }) })
    s.sendAll(range(5))
    await s.pass(10_000)
    expect(s.starts).toEqual(['0@0', '1@1000', '2@2000'])
    expect([...s.refusals.keys()]).toEqual(['3', '4'])
    expect(s.refusal('3')).toBeInstanceOf(QueueFullError)
  })
})

describe.each(stores)('maxWaitMs, $name', ({ make }) => {
  test('a request that would wait longer is refused at once, with the wait and the layer', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    await s.send('first')
    await s.send('second', { maxWaitMs: 999 })
    expect(s.refusal('second')).toBeInstanceOf(WaitTooLongError)
    expect(s.refusal('second')).toMatchObject({
      code: 'ERR_HOSTPACE_WAIT_TOO_LONG',
      waitMs: 1000,
      maxWaitMs: 999,
      layer: 'interval',
      key: 'https://a.example',
    })
    expect(s.clock.timers).toBe(0)
    s.sendAll(['third'], { maxWaitMs: 1000 })
    await s.pass(1000)
    expect(s.starts).toEqual(['first@0', 'third@1000'])
  })

  test('counts those who wait before it', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    s.sendAll(range(4))
    await s.settle()
    await s.send('impatient', { maxWaitMs: 3999 })
    expect(s.refusal('impatient')).toMatchObject({ waitMs: 4000, layer: 'interval' })
    s.sendAll(['patient'], { maxWaitMs: 4000 })
    await s.pass(10_000)
    expect(s.starts.at(-1)).toBe('patient@4000')
  })

  test('does not count a hole before a dear head as its own', async () => {
    // The window has room for one now, but the one before it needs two.
    const s = new Setting(make(), { quotas: [{ limit: 5, windowMs: 100 }] })
    await s.send('four', { cost: 4 })
    s.sendAll(['two'], { cost: 2 })
    await s.settle()
    await s.send('one', { maxWaitMs: 99 })
    expect(s.refusal('one')).toMatchObject({ waitMs: 100, layer: 'quota' })
  })

  test('of the policy holds for all, and a request may say otherwise', async () => {
    const s = new Setting(make(), { intervalMs: 1000, maxWaitMs: 1000 })
    s.sendAll(['a', 'b', 'c'])
    s.sendAll(['d'], { maxWaitMs: 5000 })
    await s.pass(10_000)
    expect(s.starts).toEqual(['a@0', 'b@1000', 'd@2000'])
    expect(s.refusal('c')).toMatchObject({ waitMs: 2000, maxWaitMs: 1000 })
  })

  test('a pause that makes the wait too long refuses at once those who will not wait for it', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    await s.send('first')
    s.sendAll(['a', 'b'], { maxWaitMs: 5000 })
    s.sendAll(['c'])
    await s.pass(100)
    s.pacer.pause(url, 60_000)
    await s.settle()
    expect(s.refusal('a')).toMatchObject({ waitMs: 60_000, layer: 'pause' })
    expect(s.refusal('b')).toBeInstanceOf(WaitTooLongError)
    await s.pass(60_000)
    expect(s.starts).toEqual(['first@0', 'c@60100'])
  })

  test('one of higher priority that comes before it may make the wait too long', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    await s.send('first')
    s.sendAll(['low'], { maxWaitMs: 1500 })
    await s.pass(400)
    s.sendAll(['high'], { priority: 1 })
    await s.settle()
    expect(s.refusal('low')).toMatchObject({ waitMs: 1600 })
  })

  test('where a permit is missing the time is waited and then refused', async () => {
    const s = new Setting(make(), { rate: '100r/s', concurrency: 1 })
    await s.send('holds', { keep: true })
    s.sendAll(['head'])
    await s.settle()
    s.sendAll(['short'], { maxWaitMs: 100 })
    s.sendAll(['shorter'], { maxWaitMs: 50 })
    await s.pass(50)
    expect(s.refusal('shorter')).toMatchObject({
      waitMs: Number.POSITIVE_INFINITY,
      maxWaitMs: 50,
      layer: 'concurrency',
    })
    expect(s.refusals.has('short')).toBe(false)
    await s.pass(50)
    expect(s.refusal('short')).toMatchObject({ layer: 'concurrency' })
    s.permits.get('holds')?.done()
    await s.settle()
    expect(s.starts).toEqual(['holds@0', 'head@100'])
    expect(s.clock.timers).toBe(0)
  })

  test('holds while the policy is still being looked up', async () => {
    const s = new Setting(make(), { policyFor: () => new Promise(() => {}) })
    s.sendAll(['patient'])
    s.sendAll(['less impatient'], { maxWaitMs: 300 })
    s.sendAll(['impatient'], { maxWaitMs: 100 })
    await s.pass(99)
    expect(s.refusals.size).toBe(0)
    await s.pass(1)
    expect(s.refusal('impatient')).toBeInstanceOf(WaitTooLongError)
    expect(s.refusals.size).toBe(1)
    await s.pass(200)
    expect(s.refusal('less impatient')).toBeInstanceOf(WaitTooLongError)
    expect(s.clock.timers).toBe(0)
  })

  test('those refused make room at once for those behind, also those who quit because of it', async () => {
    const s = new Setting(make(), { intervalMs: 100 })
    const giveUp = new AbortController()
    await s.send('first')
    s.sendAll(['head'])
    s.sendAll(['refused'], { maxWaitMs: 1500 })
    s.sendAll(['quits'], { signal: giveUp.signal })
    s.sendAll(['stays'], { maxWaitMs: 2500 })
    await s.settle()
    s.pacer.on('reject', () => giveUp.abort())
    s.pacer.update(url, { intervalMs: 1000 })
    await s.pass(5000)
    expect([...s.refusals.keys()]).toEqual(['quits', 'refused'])
    expect(s.starts).toEqual(['first@0', 'head@1000', 'stays@2000'])
  })

  test('0 lets go what may go now, and only that', async () => {
    const s = new Setting(make(), { rate: '2r/s', maxWaitMs: 0 })
    s.sendAll(range(3))
    await s.settle()
    expect(s.names).toEqual(['0', '1'])
    expect(s.refusal('2')).toMatchObject({ waitMs: 500, layer: 'burst' })
  })
})

describe.each(stores)("onLimit 'reject', $name", ({ make }) => {
  test('refuses what cannot go now and takes nothing for it', async () => {
    const s = new Setting(make(), { rate: '4r/s', onLimit: 'reject' })
    s.sendAll(range(6))
    await s.settle()
    expect(s.names).toEqual(['0', '1', '2', '3'])
    expect(s.refusal('4')).toBeInstanceOf(RateLimitedError)
    expect(s.refusal('5')).toMatchObject({
      code: 'ERR_HOSTPACE_LIMITED',
      waitMs: 250,
      layer: 'burst',
      key: 'https://a.example',
    })
    await s.pass(250)
    await s.send('later')
    expect(s.starts.at(-1)).toBe('later@250')
  })

  test('also where a permit is missing', async () => {
    const s = new Setting(make(), { rate: '100r/s', concurrency: 1, onLimit: 'reject' })
    await s.send('holds', { keep: true })
    await s.send('refused')
    expect(s.refusal('refused')).toMatchObject({ layer: 'concurrency', waitMs: Number.POSITIVE_INFINITY })
    s.permits.get('holds')?.done()
    await s.send('next')
    expect(s.names).toEqual(['holds', 'next'])
  })

  test('applies to those who wait when the policy becomes so', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    s.sendAll(range(3))
    await s.settle()
    s.pacer.update(url, { onLimit: 'reject' })
    await s.settle()
    expect(s.refusal('1')).toBeInstanceOf(RateLimitedError)
    expect(s.refusal('2')).toBeInstanceOf(RateLimitedError)
    expect(s.clock.timers).toBe(0)
  })
})

test('maxWaitMs goes by the present policy and not by what a store said of the one before', async () => {
  const s = new Setting(asyncStore(), { intervalMs: 10_000 })
  await s.send('first')
  s.sendAll(['head'])
  await s.settle()
  s.sendAll(['quick'], { maxWaitMs: 5000 })
  s.pacer.update(url, { intervalMs: 2000 })
  await s.pass(5000)
  expect(s.starts).toEqual(['first@0', 'head@2000', 'quick@4000'])
})
