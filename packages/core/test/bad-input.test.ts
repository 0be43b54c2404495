import { describe, expect, test } from 'vitest'
import {
  createPacer,
  HostLimiter,
  memoryStore,
  type PacerOptions,
  type Policy,
  PolicyError,
  parseRateLimit,
  readRequestOptions,
  TokenBucket,
} from '../src/index.ts'
import { ManualClock } from '../src/testing/manual-clock.ts'
import { Setting, stores, url } from './support/pacer-setting.ts'

const none = new TypeError('nothing was thrown')

function thrownBy(fn: () => unknown): unknown {
  try {
    fn()
    return none
  } catch (error) {
    return error
  }
}

class Fast {
  get rate() {
    return '5r/s'
  }
}

const origin = 'https://a.example'
const at = `hosts["${origin}"]`

test.each<[unknown, string]>([
  [null, 'options'],
  [new Map([['rate', '5r/s']]), 'options'],
  [new Fast(), 'options'],
  [['5r/s'], 'options'],
  [{ hosts: new Map([[origin, { rate: '5r/s' }]]) }, 'options.hosts'],
  [{ hosts: [] }, 'options.hosts'],
  [{ hosts: { [origin]: new Fast() } }, at],
  [{ hosts: { 'https://*.example': { rate: '5r/s' } } }, 'hosts["https://*.example"]'],
  [{ hosts: { [origin]: { rate: '5r/s' }, [`${origin}:443/`]: { rate: '9r/s' } } }, `hosts["${origin}:443/"]`],
  [{ quotas: new Array(1) }, 'options.quotas[0]'],
  [{ quotas: [new Fast()] }, 'options.quotas[0]'],
  [{ rate: 1e-306 }, 'options.rate'],
  [{ rate: 5e-324 }, 'options.rate'],
  [{ rate: '0.000000000000001r/d' }, 'options.rate'],
  [{ intervalMs: 1e300 }, 'options.intervalMs'],
  [{ rate: 5, capacity: 1e300, justification: 'no end' }, 'options.capacity'],
  [{ quotas: [{ limit: 5, windowMs: 1e300 }] }, 'options.quotas[0].windowMs'],
  [{ clock: null }, 'options.clock'],
  [{ clock: {} }, 'options.clock.now'],
  [{ clock: { now: () => Number.NaN } }, 'options.clock.now'],
  [{ clock: { now: () => undefined } }, 'options.clock.now'],
  [{ clock: { now: () => 0, setTimer: 5 } }, 'options.clock.setTimer'],
  [{ store: null }, 'options.store'],
  [{ store: {} }, 'options.store.hosts'],
  [{ store: { hosts: {} } }, 'options.store.leave'],
  [{ policyFor: {} }, 'options.policyFor'],
  [{ keyBy: null }, 'options.keyBy'],
  [{ adapt: { startIntervalMs: 0.5 } }, 'options.adapt.startIntervalMs'],
  [{ adapt: new Map() }, 'options.adapt'],
  [{ adapt: 'no' }, 'options.adapt'],
  [{ adapt: { maxIntervalMs: 1.5 } }, 'options.adapt.maxIntervalMs'],
  [{ adapt: { minIntervalMs: 70_000 } }, 'options.adapt.minIntervalMs'],
  [{ adapt: { minIntervalMs: 20, maxIntervalMs: 10 } }, 'options.adapt.minIntervalMs'],
  [{ adapt: { startIntervalMs: 5 } }, 'options.adapt.startIntervalMs'],
  [{ adapt: { startIntervalMs: 60_001 } }, 'options.adapt.startIntervalMs'],
])('createPacer refuses %o and names %s', (options, path) => {
  expect(thrownBy(() => createPacer(options as PacerOptions))).toMatchObject({ name: 'PolicyError', path })
})

test.each<[string, () => unknown, string]>([
  ['a limiter', () => new HostLimiter({ rate: 5 }, { clock: { now: () => Number.NaN } }), 'options.clock.now'],
  ['a layer', () => new TokenBucket({ rate: 5, clock: {} as never }), 'clock.now'],
])('%s refuses a clock that tells no time', (_name, make, path) => {
  expect(thrownBy(make)).toMatchObject({ name: 'PolicyError', path })
})

test.each<[unknown, string]>([
  [undefined, 'context'],
  [Date.now(), 'context'],
  [{}, 'context.receivedAtMs'],
  [{ receivedAtMs: new Date() }, 'context.receivedAtMs'],
  [{ receivedAtMs: Number.NaN }, 'context.receivedAtMs'],
  [{ receivedAtMs: 0, now: 5 }, 'context.now'],
  [{ receivedAtMs: 0, hints: { reset: 'minutes' } }, 'context.hints.reset'],
])('parseRateLimit refuses the context %o and names %s', (context, path) => {
  expect(thrownBy(() => parseRateLimit({}, context as never))).toMatchObject({ name: 'PolicyError', path })
})

test.each<[object, string]>([
  [{ cost: 1.5 }, 'hostpace.cost'],
  [{ priority: '1' }, 'hostpace.priority'],
  [{ maxWaitMs: -1 }, 'hostpace.maxWaitMs'],
  [{ key: '' }, 'hostpace.key'],
  [{ reservation: {} }, 'hostpace.reservation'],
  [{ skip: 1 }, 'hostpace.skip'],
  [{ retries: 1 }, 'hostpace.retries'],
])('of the options of a request in a client %o is refused as %s', (options, path) => {
  expect(thrownBy(() => readRequestOptions(options))).toMatchObject({ name: 'PolicyError', path })
})

test('where bounds of the learned gap leave it no 1000 ms to start with, it starts at the nearest', async () => {
  const startOf = async (adapt: object) => (await createPacer({ adapt }).explain(origin)).layers[0]?.parameters
  expect(await startOf({ maxIntervalMs: 500 })).toEqual({ intervalMs: 500 })
  expect(await startOf({ minIntervalMs: 2000 })).toEqual({ intervalMs: 2000 })
})

test('a plain object of another realm or without a prototype is one', async () => {
  const { runInNewContext } = await import('node:vm')
  expect(createPacer(runInNewContext("({ rate: '5r/s', quotas: [{ limit: 5, windowMs: 1000 }] })"))).toBeDefined()
  expect(createPacer(Object.assign(Object.create(null), { rate: '5r/s' }))).toBeDefined()
})

describe.each(stores)('a pacer on a $name', ({ make }) => {
  test('keeps what it was made with, whatever becomes of the options', async () => {
    const quota = { limit: 1, windowMs: 1000 }
    const own = { intervalMs: 50 } as { intervalMs: number }
    const options = { quotas: [quota], hosts: { [origin]: own } }
    const s = new Setting(make(), options)
    const later = { quotas: [{ limit: 3, windowMs: 500 }] }
    s.pacer.update('https://b.example', later)
    quota.limit = -1
    options.quotas.length = 0
    own.intervalMs = Number.NaN
    ;(later.quotas[0] as { limit: number }).limit = Number.NaN
    s.pacer.update(undefined, { maxQueue: 5 })
    s.sendAll(['a', 'b'])
    await s.pass(5000)
    expect(s.starts).toEqual(['a@0', 'b@1000'])
    const described = await s.pacer.explain('https://b.example')
    expect(described.layers.map(({ parameters }) => parameters)).toEqual([{ limit: 3, windowMs: 500 }])
  })

  test.each<[string, (pacer: Setting['pacer']) => unknown, string]>([
    ['wait', (pacer) => pacer.wait(url, { maxWait: 5 } as never), 'maxWait'],
    ['reserve', (pacer) => pacer.reserve(url, null as never), 'options'],
    ['reserve', (pacer) => pacer.reserve(url, { priority: 5 } as never), 'options.priority'],
    ['run', (pacer) => pacer.run(url, 'nope' as never), 'fn'],
    ['observe', (pacer) => pacer.observe(url, null as never), 'outcome'],
    ['observe', (pacer) => pacer.observe(url, { status: '429' as never }), 'outcome.status'],
    ['observe', (pacer) => pacer.observe(url, { latencyMs: Number.NaN }), 'outcome.latencyMs'],
    ['observe', (pacer) => pacer.observe(url, { status: -1 }), 'outcome.status'],
    ['observe', (pacer) => pacer.observe(url, { status: 1e9 }), 'outcome.status'],
    ['observe', (pacer) => pacer.observe(url, [429] as never), 'outcome'],
    ['observe', (pacer) => pacer.observe(url, new Map([['status', 429]]) as never), 'outcome'],
    ['observe', (pacer) => pacer.observe(url, { status: 429, headers: 5 as never }), 'outcome.headers'],
    ['on', (pacer) => pacer.on('bogus' as never, () => {}), 'name'],
    ['on', (pacer) => pacer.on('depart', null as never), 'listener'],
    ['pause', (pacer) => pacer.pause(url, '5' as never), 'ms'],
  ])('%s refuses nonsense and takes nothing', async (_name, call, path) => {
    const s = new Setting(make(), { intervalMs: 1000 })
    await expect((async () => call(s.pacer))()).rejects.toMatchObject({ name: 'PolicyError', path })
    await s.send('a')
    expect(s.starts).toEqual(['a@0'])
  })

  test('a permit refuses an outcome that is none, and is still to be done', async () => {
    const s = new Setting(make(), { rate: 5, concurrency: 1 })
    const permit = await s.pacer.wait(url)
    expect(() => permit.done(null as never)).toThrow(PolicyError)
    expect(() => permit.observe('fine' as never)).toThrow(PolicyError)
    expect(s.pacer.stats().total.inFlight).toBe(1)
    permit.done()
    expect(s.pacer.stats().total.inFlight).toBe(0)
  })

  test('headers that throw say nothing', async () => {
    const s = new Setting(make(), { rate: 5, concurrency: 1 })
    const headers = {
      get: () => {
        throw new Error('broken')
      },
    }
    await s.pacer.run(url, () => ({ status: 429, headers }))
    expect(s.pacer.stats().total).toMatchObject({ inFlight: 0, heldMs: 60_000 })
  })

  test('a result that only looks like a response is given back as it is', async () => {
    const s = new Setting(make(), { rate: 5 })
    for (const result of [{ status: Number.NaN }, { status: 1e9 }, { status: 200, headers: 5 }]) {
      await expect(s.pacer.run(url, () => result)).resolves.toBe(result)
    }
  })

  test('policyFor that throws rejects those who wait and escapes from nothing else', async () => {
    const broken = new Error('broken')
    const s = new Setting(make(), {
      policyFor: () => {
        throw broken
      },
    })
    s.pacer.pause(url, 5)
    s.pacer.resume(url)
    s.pacer.observe(url, { status: 429 })
    await s.send('a')
    expect(s.refusal('a')).toBe(broken)
    await expect(s.pacer.peek(url)).rejects.toBe(broken)
  })

  test('a host may have any name', async () => {
    const s = new Setting(make())
    for (const key of ['__proto__', 'constructor', 'toString']) await s.send(key, { key })
    const { hosts } = s.pacer.stats()
    expect(Object.keys(hosts)).toEqual(['__proto__', 'constructor', 'toString'])
    expect(Object.values(hosts)[0]).toMatchObject({ departures: 1 })
    expect(hosts.valueOf).toBeUndefined()
  })

  test('close ends every question that waits for a policy', async () => {
    const s = new Setting(make(), { policyFor: () => new Promise<Policy>(() => {}) })
    const questions = [s.pacer.wait(url), s.pacer.reserve(url), s.pacer.peek(url), s.pacer.explain(url)]
    await s.settle()
    await s.pacer.close()
    for (const question of questions) await expect(question).rejects.toMatchObject({ code: 'ERR_HOSTPACE_CLOSED' })
  })

  test('nothing is reserved on a pacer that was closed meanwhile', async () => {
    let give: (policy: Policy) => void = () => {}
    const store = make()
    const s = new Setting(store, { policyFor: () => new Promise((resolve) => (give = resolve)) })
    const reservation = s.pacer.reserve(url)
    give({ intervalMs: 1000 })
    await s.pacer.close()
    await expect(reservation).rejects.toMatchObject({ code: 'ERR_HOSTPACE_CLOSED' })
    const other = new Setting(store, { intervalMs: 1000 }, s.clock)
    await other.send('a')
    expect(other.starts).toEqual(['a@0'])
  })
})

test('a store that throws when a reservation is come for is one that failed', async () => {
  const store = memoryStore()
  const clock = new ManualClock()
  const pacer = createPacer({ intervalMs: 1000, clock, store })
  const reservation = await pacer.reserve(url)
  store.retry = () => {
    throw new Error('disk full')
  }
  await expect(pacer.wait(url, { reservation })).rejects.toMatchObject({ code: 'ERR_HOSTPACE_STORE' })
  expect(pacer.stats().total.queued).toBe(0)
})
