import { type Policy, type PolicyLookup, policyFor } from '@hostpace/core'
import { describe, expect, test } from 'vitest'
import { Setting, stores, url } from './support/pacer-setting.ts'

const robots = 'https://a.example/robots.txt'

describe.each(stores)('a look-up, $name', ({ make }) => {
  test('may ask the host first, which counts as any request', async () => {
    const asked: number[] = []
    const s: Setting = new Setting(make(), {
      intervalMs: 1000,
      policyFor: async (_key, lookup) => {
        await lookup.run(robots, () => asked.push(s.clock.now()))
        await lookup.run(robots, () => asked.push(s.clock.now()))
        return { intervalMs: 4000 }
      },
    })
    s.sendAll(['a', 'b'])
    await s.pass(20_000)
    expect(asked).toEqual([0, 1000])
    expect(s.starts).toEqual(['a@5000', 'b@9000'])
    expect(s.pacer.stats().total).toMatchObject({ departures: 4, inFlight: 0, queued: 0 })
    expect((await s.pacer.explain(url)).layers[0]).toMatchObject({ source: 'policyFor' })
  })

  test('asks an unknown host at the pace of one that is unknown', async () => {
    const asked: number[] = []
    const s: Setting = new Setting(make(), {
      policyFor: async (_key, lookup) => {
        for (let i = 0; i < 3; i++) await lookup.run(robots, () => asked.push(s.clock.now()))
        return undefined
      },
    })
    s.sendAll(['a'])
    await s.pass(20_000)
    expect(asked).toEqual([0, 1000, 2000])
    expect(s.starts).toEqual(['a@3000'])
  })

  test('what the host answers is observed, and holds those who wait', async () => {
    const s: Setting = new Setting(make(), {
      intervalMs: 100,
      policyFor: async (_key, lookup) => {
        await lookup.run(robots, () => ({ status: 429, headers: { 'retry-after': '30' } }))
        return undefined
      },
    })
    s.sendAll(['a'])
    await s.pass(40_000)
    expect(s.starts).toEqual(['a@30000'])
  })

  test('leaves the declared interval between what it asked and the first request, whatever was configured', async () => {
    const s: Setting = new Setting(make(), {
      rate: 5,
      policyFor: async (_key, lookup) => {
        await lookup.run(robots, () => {})
        return { intervalMs: 4000 }
      },
    })
    s.sendAll(['a', 'b'])
    await s.pass(20_000)
    expect(s.starts).toEqual(['a@4000', 'b@8000'])
  })

  test.each<Policy>([{}, { rate: '10r/s' }, { intervalMs: 100 }, { quotas: [{ limit: 50, windowMs: 60_000 }] }])(
    'leaves the interval behind the answer, which may have taken long, whatever was configured: %j',
    async (policy) => {
      const s: Setting = new Setting(make(), {
        ...policy,
        policyFor: async (_key, lookup) => {
          await lookup.run(robots, () => new Promise<void>((resolve) => s.clock.setTimer(resolve, 300)))
          await new Promise<void>((resolve) => s.clock.setTimer(resolve, 150))
          return { intervalMs: 4000 }
        },
      })
      s.sendAll(['a', 'b'])
      await s.pass(20_000)
      const [first, second] = s.starts.map((start) => Number(start.split('@')[1])) as [number, number]
      // By when it had left is all that some layers remember.
      expect(first).toBeGreaterThanOrEqual(4300)
      expect(first).toBeLessThanOrEqual(4450)
      expect(second).toBe(first + 4000)
    },
  )

  test('is held as all are by a pause that was asked for before', async () => {
    const asked: number[] = []
    const s: Setting = new Setting(make(), {
      rate: 5,
      policyFor: async (_key, lookup) => {
        await lookup.run(robots, () => asked.push(lookup.now()))
        return undefined
      },
    })
    s.pacer.pause(url, 3000)
    s.sendAll(['a'])
    await s.pass(5000)
    expect(asked).toEqual([3000])
  })

  test('two hosts may ask one another', async () => {
    const other = 'https://b.example/robots.txt'
    const s: Setting = new Setting(make(), {
      intervalMs: 1000,
      policyFor: async (key, lookup) => {
        await lookup.run(key === 'https://a.example' ? other : robots, () => {})
        return undefined
      },
    })
    s.sendAll(['a'])
    s.sendAll(['b'], { to: other })
    await s.pass(5000)
    expect(s.starts.sort()).toEqual(['a@1000', 'b@1000'])
  })

  test('concurrency counts what the look-up still has in flight', async () => {
    let end: () => void = () => {}
    const s: Setting = new Setting(make(), {
      rate: 100,
      concurrency: 1,
      policyFor: (_key, lookup) => {
        void lookup.run(robots, () => new Promise<void>((resolve) => (end = resolve)))
        return Promise.resolve({ maxQueue: 9 })
      },
    })
    s.sendAll(['a'])
    await s.pass(1000)
    expect(s.starts).toEqual([])
    end()
    await s.pass(1000)
    expect(s.starts).toEqual(['a@1000'])
  })

  test.each([
    [
      'limiter of a registry',
      () => policyFor({ crawlDelayFloorSeconds: 1, maxRequestsPerMinute: 0 }),
      'policyFor("https://a.example") failed: entry.maxRequestsPerMinute must be',
    ],
    ['policy', () => ({ intervalMs: -1 }), 'policyFor("https://a.example").intervalMs must be'],
  ])('whose %s makes no sense is refused with the name of the host', async (_name, look, message) => {
    for (const find of [look, async () => look()]) {
      const s = new Setting(make(), { policyFor: find })
      await s.send('a')
      await s.settle()
      expect(s.refusal('a')).toMatchObject({ code: 'ERR_HOSTPACE_POLICY' })
      expect(s.refusal('a').message).toContain(message)
    }
  })

  test('that fails rejects those who wait; what was used stays used', async () => {
    let isDown = true
    const s: Setting = new Setting(make(), {
      intervalMs: 1000,
      policyFor: async (_key, lookup) => {
        await lookup.run(robots, () => {})
        if (isDown) throw new Error('down')
        return { intervalMs: 3000 }
      },
    })
    await s.send('a')
    expect(s.refusal('a')).toMatchObject({ message: 'down' })
    isDown = false
    s.sendAll(['b'])
    await s.pass(10_000)
    expect(s.starts).toEqual(['b@4000'])
  })

  test('a policy may be looked up again after a time, and holds until then', async () => {
    let lookups = 0
    let fails = false
    const s: Setting = new Setting(make(), {
      policyFor: async (_key, lookup) => {
        lookups++
        if (fails) throw new Error('down')
        lookup.validFor(10_000)
        return { intervalMs: lookups * 100 }
      },
    })
    await s.send('a')
    await s.pass(9999)
    await s.send('b')
    expect(lookups).toBe(1)
    await s.pass(1)
    s.sendAll(['c', 'd', 'e'])
    await s.pass(9999)
    expect(lookups).toBe(2)
    expect(s.starts.slice(2)).toEqual(['c@10199', 'd@10399', 'e@10599'])
    fails = true
    await s.pass(1)
    await s.send('f')
    await s.settle()
    expect(lookups).toBe(3)
    await s.pass(59_999)
    await s.send('g')
    expect(lookups).toBe(3)
    await s.pass(1)
    s.sendAll(['h'])
    await s.settle()
    expect(lookups).toBe(4)
    expect(s.refusals.size).toBe(0)
  })

  test('ends with its signal, and with the pacer', async () => {
    const failures: unknown[] = []
    let ask: PolicyLookup['run'] = () => Promise.reject()
    const s: Setting = new Setting(make(), {
      intervalMs: 1000,
      policyFor: (_key, lookup) => {
        ask = lookup.run
        return new Promise<Policy>(() => {})
      },
    })
    s.sendAll(['a'])
    await s.settle()
    const giveUp = new AbortController()
    const send = () => {}
    await ask(robots, send)
    const asked = [ask(robots, send, { signal: giveUp.signal }), ask(robots, send)]
    for (const one of asked) one.catch((error) => failures.push(error))
    giveUp.abort('enough')
    await s.settle()
    expect(failures).toEqual(['enough'])
    await s.pacer.close()
    await s.settle()
    expect(failures[1]).toMatchObject({ code: 'ERR_HOSTPACE_CLOSED' })
    await expect(ask(robots, send)).rejects.toMatchObject({ code: 'ERR_HOSTPACE_CLOSED' })
  })
})

describe.each(stores)('a check, $name', ({ make }) => {
  function setUp(check: (url: URL, key: string) => void | PromiseLike<void>) {
    return new Setting(make(), { policyFor: Object.assign(() => ({ intervalMs: 100 }), { check }) })
  }

  test('refuses a URL with what it throws, and then nothing is taken', async () => {
    const refusal = new Error('not for robots')
    const seen: string[] = []
    const s = setUp(async ({ pathname }, key) => {
      seen.push(`${key} ${pathname}`)
      if (pathname === '/private') throw refusal
    })
    await s.send('a', { to: 'https://a.example/private' })
    await s.send('b')
    expect(s.refusal('a')).toBe(refusal)
    expect(s.starts).toEqual(['b@0'])
    expect(seen).toEqual(['https://a.example /private', 'https://a.example /page'])
  })

  test('tells of a refusal, and gives a reservation back', async () => {
    const told: unknown[] = []
    const refusal = new Error('not for robots')
    const s = setUp(({ pathname }) => {
      if (pathname === '/private') throw refusal
    })
    s.pacer.on('reject', ({ key, error }) => void told.push([key, error]))
    const reservation = await s.pacer.reserve(url)
    await s.send('a', { to: 'https://a.example/private', reservation })
    expect(told).toEqual([['https://a.example', refusal]])
    expect(s.pacer.stats().total.refused).toBe(1)
    await s.send('b')
    expect(s.starts).toEqual(['b@0'])
  })

  test('that refuses all keeps no policy from being looked up again', async () => {
    let lookups = 0
    const policyFor = Object.assign(
      (_key: string, lookup: PolicyLookup) => {
        lookups++
        lookup.validFor(1000)
        return { intervalMs: 100 }
      },
      {
        check: () => {
          throw new Error('no')
        },
      },
    )
    const s = new Setting(make(), { policyFor })
    await s.send('a')
    await s.pass(1000)
    await s.send('b')
    expect(lookups).toBe(2)
  })

  test('keeps the order', async () => {
    const s = setUp(() => {})
    s.sendAll(['a', 'b', 'c'])
    await s.pass(500)
    expect(s.starts).toEqual(['a@0', 'b@100', 'c@200'])
  })

  test('counts as waiting', async () => {
    const s: Setting = setUp(() => new Promise((resolve) => s.clock.setTimer(resolve, 500)))
    s.sendAll(['patient'], { maxWaitMs: 501 })
    s.sendAll(['behind'], { maxWaitMs: 599 })
    s.sendAll(['enough'], { maxWaitMs: 700 })
    s.sendAll(['hasty'], { maxWaitMs: 300 })
    const rejects: unknown[] = []
    s.pacer.on('reject', ({ waitedMs }) => void rejects.push(waitedMs))
    await s.pass(299)
    expect(s.refusals.size).toBe(0)
    await s.pass(1)
    expect(s.refusal('hasty')).toMatchObject({ code: 'ERR_HOSTPACE_WAIT_TOO_LONG', maxWaitMs: 300, waitMs: Infinity })
    await s.pass(1000)
    expect(s.refusal('behind')).toMatchObject({ code: 'ERR_HOSTPACE_WAIT_TOO_LONG', maxWaitMs: 599, waitMs: 100 })
    expect(s.starts).toEqual(['patient@500', 'enough@600'])
    expect(s.permits.get('patient')).toMatchObject({ waitedMs: 500, layer: 'none' })
    expect(rejects).toEqual([300, 500])
    expect(s.pacer.stats().total).toMatchObject({ refused: 2, queued: 0 })
  })

  test('counts as waiting also by the maxWaitMs of the policy, and options are looked at before it', async () => {
    const check = () => new Promise<void>(() => {})
    const s = new Setting(make(), { maxWaitMs: 200, policyFor: Object.assign(() => undefined, { check }) })
    s.sendAll(['a'])
    s.sendAll(['b'], { maxWaitMs: -1 })
    await s.settle()
    expect(s.refusal('b')).toMatchObject({ code: 'ERR_HOSTPACE_POLICY', path: 'maxWaitMs' })
    await s.pass(200)
    expect(s.refusal('a')).toMatchObject({ code: 'ERR_HOSTPACE_WAIT_TOO_LONG', maxWaitMs: 200 })
  })

  test('ends with the signal of the request', async () => {
    const s = setUp(() => new Promise(() => {}))
    const giveUp = new AbortController()
    s.sendAll(['a'], { signal: giveUp.signal })
    s.sendAll(['b'], { signal: AbortSignal.abort('before') })
    await s.settle()
    giveUp.abort('enough')
    await s.settle()
    expect([s.refusal('a'), s.refusal('b')]).toEqual(['enough', 'before'])
  })
})
