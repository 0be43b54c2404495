import { createPacer, type PacerOptions, type Policy, PolicyError } from '@hostpace/core'
import { describe, expect, test } from 'vitest'
import { KeyFinder } from '../src/origin.ts'
import { PolicyBook } from '../src/policy-book.ts'
import { range, Setting, stores, url } from './support/pacer-setting.ts'

describe.each(stores)('where a policy comes from, $name', ({ make }) => {
  test('policyFor is asked once per host, by its key', async () => {
    const asked: string[] = []
    const policyFor = (key: string) => {
      asked.push(key)
      return key.includes('b.') ? { intervalMs: 300 } : undefined
    }
    const s = new Setting(make(), { intervalMs: 100, policyFor })
    for (const to of ['https://A.example:443/x', 'https://b.example/', 'https://a.example/y', 'https://b.example/']) {
      s.sendAll([to], { to })
    }
    await s.pass(300)
    expect(asked).toEqual(['https://a.example', 'https://b.example'])
    expect(s.times).toEqual([0, 0, 100, 300])
  })

  test('a policy that comes later holds those who wait for it, in their order', async () => {
    let give: (policy: Policy) => void = () => {}
    const policyFor = () => new Promise<Policy>((resolve) => (give = resolve))
    const s = new Setting(make(), { policyFor })
    s.sendAll(range(3))
    s.sendAll(['high'], { priority: 1 })
    await s.pass(5000)
    expect(s.starts).toEqual([])
    give({ intervalMs: 1000 })
    await s.pass(3000)
    expect(s.starts).toEqual(['high@5000', '0@6000', '1@7000', '2@8000'])
  })

  test('an abort while the policy is looked up rejects at once', async () => {
    const s = new Setting(make(), { policyFor: () => new Promise(() => {}) })
    const giveUp = new AbortController()
    s.sendAll(['a'], { signal: giveUp.signal })
    await s.settle()
    giveUp.abort('enough')
    await s.settle()
    expect(s.refusal('a')).toBe('enough')
  })

  test('a look-up that fails rejects those who wait with its error, and the next asks again', async () => {
    let calls = 0
    const failure = new Error('registry down')
    const policyFor = async () => {
      if (++calls === 1) throw failure
      return { intervalMs: 100 }
    }
    const s = new Setting(make(), { policyFor })
    s.sendAll(['a', 'b'])
    await s.settle()
    expect([s.refusal('a'), s.refusal('b')]).toEqual([failure, failure])
    await s.send('c')
    expect(s.names).toEqual(['c'])
    expect(calls).toBe(2)
  })

  test('one that throws at once is the same', async () => {
    const failure = new Error('no registry')
    const s = new Setting(make(), {
      policyFor: () => {
        throw failure
      },
    })
    await s.send('a')
    expect(s.refusal('a')).toBe(failure)
  })

  test('a failed look-up that nobody waits for is no unhandled rejection', async () => {
    const unhandled: unknown[] = []
    const listen = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', listen)
    const s = new Setting(make(), { policyFor: () => Promise.reject(new Error('down')) })
    s.pacer.pause(url, 1000)
    s.pacer.resume(url)
    s.pacer.observe(url, { status: 429 })
    await expect(s.pacer.peek(url)).rejects.toThrow('down')
    const giveUp = new AbortController()
    s.sendAll(['a'], { signal: giveUp.signal })
    giveUp.abort()
    await s.settle()
    await s.settle()
    process.off('unhandledRejection', listen)
    expect(unhandled).toEqual([])
  })

  test.each<[unknown, string]>([
    [{ intervalMs: -5 }, 'intervalMs'],
    [{ rate: '5r/s', burst: 9 }, 'burst'],
    [{ quotas: [{ limit: 1 }] }, 'quotas[0].windowMs'],
    [{ quotas: [{ limit: 1, windowMs: 1, windows: 1 }] }, 'quotas[0].windows'],
  ])('a policy that makes no sense, %o, names the field and the host', async (policy, field) => {
    const options: PacerOptions[] = [{ policyFor: () => policy as Policy }, { policyFor: async () => policy as Policy }]
    for (const option of options) {
      const s = new Setting(make(), option)
      await s.send('a')
      expect(s.refusal('a')).toBeInstanceOf(PolicyError)
      expect(s.refusal<PolicyError>('a').path).toBe(`policyFor("https://a.example").${field}`)
    }
  })

  test('hosts lies over policyFor, which lies over all hosts; the longest interval wins', async () => {
    const s = new Setting(make(), {
      intervalMs: 1000,
      rate: '50r/s',
      maxQueue: 7,
      hosts: { 'https://a.example': { rate: '20r/s' } },
      policyFor: () => ({ intervalMs: 200, rate: '30r/s', maxQueue: 8 }),
    })
    expect((await s.pacer.explain(url)).policy).toEqual({ intervalMs: 1000, rate: '20r/s', maxQueue: 8 })
    const other = new Setting(make(), { intervalMs: 1000, policyFor: () => ({ intervalMs: 2000 }) })
    expect((await other.pacer.explain(url)).policy).toEqual({ intervalMs: 2000 })
  })

  test('the keys of hosts are normalised', async () => {
    const s = new Setting(make(), {
      intervalMs: 1000,
      hosts: { 'HTTPS://A.Example.:443/': { intervalMs: 50 }, 'http://bücher.example': { intervalMs: 70 } },
    })
    s.sendAll(['a', 'b'])
    s.sendAll(['c', 'd'], { to: 'http://xn--bcher-kva.example/' })
    await s.pass(100)
    expect(s.starts).toEqual(['a@0', 'c@0', 'b@50', 'd@70'])
  })

  test('quotas of every kind apply', async () => {
    const s = new Setting(make(), {
      quotas: [
        { limit: 3, windowMs: 1000, window: 'fixed' },
        { limit: 4, windowMs: 1000, window: 'counter' },
        { limit: 100, windowMs: 1000 },
      ],
    })
    s.sendAll(range(4))
    await s.pass(999)
    expect(s.starts).toHaveLength(3)
    await s.pass(5000)
    expect(s.starts).toHaveLength(4)
  })
})

test('equal policies share their layers; very many different ones are not kept for ever', () => {
  const book = new PolicyBook({ policyFor: (key) => ({ intervalMs: Number(key) }) }, new KeyFinder())
  const limitsOf = (key: string) => book.limitsOf(key, () => ({}) as never)
  const first = limitsOf('1')
  book.forget('1')
  expect(limitsOf('1')).toBe(first)
  for (let key = 2; key <= 10_001; key++) limitsOf(String(key))
  expect(limitsOf('1')).not.toBe(first)
  expect(limitsOf('1')).toBe(limitsOf('1'))
})

test.each<[unknown, string]>([
  [{ rate: '10r/s', speed: 3 }, 'options.speed'],
  [{ intervalMs: '1000' }, 'options.intervalMs'],
  [{ intervalMs: undefined }, 'options.intervalMs'],
  [{ capacity: 5 }, 'options.capacity'],
  [{ rate: '1r/s', capacity: 0.5 }, 'options.capacity'],
  [{ rate: '1r/s', capacity: 5, justification: ' ' }, 'options.justification'],
  [{ concurrency: 1.5 }, 'options.concurrency'],
  [{ maxQueue: 0 }, 'options.maxQueue'],
  [{ onLimit: 'drop' }, 'options.onLimit'],
  [{ policyFor: {} }, 'options.policyFor'],
  [{ hosts: 'x' }, 'options.hosts'],
  [{ hosts: { 'https://a.example': { rate: 'fast' } } }, 'hosts["https://a.example"].rate'],
  [{ hosts: { 'https://a.example': null } }, 'hosts["https://a.example"]'],
  [{ hosts: { 'a.example': {} } }, 'hosts["a.example"]'],
  [{ keyBy: 'path' }, 'options.keyBy'],
  [{ adapt: { startIntervalMs: 0 } }, 'options.adapt.startIntervalMs'],
  [{ adapt: { start: 0 } }, 'options.adapt.start'],
  [[], 'options'],
])('createPacer refuses %o', (options, path) => {
  expect(() => createPacer(options as PacerOptions)).toThrow(PolicyError)
  try {
    createPacer(options as PacerOptions)
  } catch (error) {
    expect((error as PolicyError).path).toBe(path)
  }
})
