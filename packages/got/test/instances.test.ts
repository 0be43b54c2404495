import { createPacer } from '@hostpace/core'
import { pace } from '@hostpace/got'
import got, { type Got } from 'got'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { later, pacedGot, serve } from './paced-got.ts'

describe('what the user brings', () => {
  test('his own request function is called, and one that answers nothing leaves it to got', async () => {
    const site = await serve()
    let calls = 0
    const request = () => {
      calls++
      return undefined
    }
    for (const cache of [false, new Map()]) {
      const { client, departures } = pacedGot({ rate: 10 }, { request, cache } as never)
      expect(await client(site.origin).text()).toBe('ok')
      expect(departures(site.origin)).toBe(1)
    }
    expect(calls).toBe(2)
  })

  test('29: a hook that comes later and moves the request moves the charge', async () => {
    const [a, b] = [await serve(), await serve()]
    const { client, departures } = pacedGot({ rate: 10 })
    const moving = client.extend({
      hooks: {
        beforeRequest: [
          (options) => {
            options.url = new URL(b.origin)
          },
        ],
      },
    })
    await moving(a.origin)
    expect([departures(a.origin), departures(b.origin)]).toEqual([0, 1])
  })

  test('a key counts for the host it was given for, not for the one a redirect leads to', async () => {
    const b = await serve()
    const a = await serve((_request, response) => response.writeHead(302, { location: b.origin }).end())
    const { client, departures } = pacedGot({ rate: 10 })
    await client(a.origin, { context: { hostpace: { key: 'mine' } } })
    expect([departures('mine'), departures(a.origin), departures(b.origin)]).toEqual([1, 0, 1])
  })
})

describe('instances', () => {
  test('two pacers charge once each, per hop', async () => {
    const site = await serve((request, response) => {
      if (request.url === '/ok') response.end('ok')
      else response.writeHead(302, { location: '/ok' }).end()
    })
    const other = createPacer({ rate: 10 })
    const { client, departures } = pacedGot({ rate: 10 })
    const twice = client.extend(pace(other))
    await twice(`${site.origin}/r`)
    await twice(`${site.origin}/ok`)
    expect(departures(site.origin)).toBe(3)
    expect(other.stats().total.departures).toBe(3)
    await other.close()
  })

  test('the instance that was extended is left alone', async () => {
    const before = structuredClone(got.defaults.options.hooks.beforeRequest.length)
    const { client } = pacedGot({ rate: 10 })
    await client((await serve()).origin)
    expect(got.defaults.options.hooks.beforeRequest).toHaveLength(before)
    expect(client.defaults.options.hooks.beforeRequest).toHaveLength(before)
  })

  test.each([
    ['merged into one', (a, b) => got.extend(a, b)],
    ['extended by each other', (a, b) => a.extend(b)],
    ['with changeable defaults', (a, b) => a.extend(b, { mutableDefaults: true })],
  ] satisfies [string, (a: Got, b: Got) => Got][])(
    'children of one that is paced, %s, pace once',
    async (_name, join) => {
      const site = await serve()
      const { client, departures } = pacedGot({ rate: 1000 })
      const child = join(client.extend({ headers: { a: '1' } }), client.extend({ headers: { b: '1' } }))
      await child(site.origin)
      await child(site.origin)
      expect(departures(site.origin)).toBe(2)
      expect(Object.keys(child.defaults.options.headers)).toEqual(expect.arrayContaining(['a', 'b']))
    },
  )

  test('a prefix, and options for the pacer that an instance has', async () => {
    const site = await serve()
    const { client, departures, pacer } = pacedGot(
      { rate: 1000 },
      { prefixUrl: site.origin, context: { hostpace: { key: 'site', cost: 3 } } },
    )
    const costs: unknown[] = []
    pacer.on('depart', ({ cost }) => void costs.push(cost))
    await client('x')
    await client('y', { context: { hostpace: { skip: true } } })
    expect(site.paths).toEqual(['/x', '/y'])
    expect([departures('site'), departures(site.origin)]).toEqual([1, 0])
    expect(costs).toEqual([3])
  })

  test('handlers of others see got’s own promise, and may wrap it', async () => {
    const site = await serve()
    const { client, departures } = pacedGot({ rate: 1000 })
    const wrapped = client.extend({
      handlers: [
        async (options, next) => {
          const response = (await next(options)) as { body: string }
          response.body += '!'
          return response as never
        },
      ],
    })
    expect((await wrapped(site.origin)).body).toBe('ok!')
    expect(departures(site.origin)).toBe(1)
  })

  test('the options of a request that was sent may be spread into those of the next', async () => {
    const site = await serve()
    const { client, departures } = pacedGot({ rate: 10 })
    const { request } = await client(site.origin)
    await client(site.origin, { ...request.options } as never)
    expect(departures(site.origin)).toBe(2)
  })

  test('a reservation is for the first hop alone', async () => {
    const site = await serve((request, response) => {
      if (request.url === '/ok') response.end('ok')
      else response.writeHead(302, { location: '/ok' }).end()
    })
    const { client, pacer, run, waiting } = pacedGot({ intervalMs: 1000 })
    await client(`${site.origin}/ok`)
    const reservation = await pacer.reserve(site.origin, { cost: 1 })
    const sent = client(site.origin, { context: { hostpace: { reservation } } })
    await run(1000)
    expect(site.paths).toEqual(['/ok', '/'])
    await waiting(1)
    await run(1000)
    expect((await sent).body).toBe('ok')
  })

  test('a function to key by is given got’s options', async () => {
    const site = await serve()
    const keyBy = (_url: URL, request: unknown) => (request as { headers: Record<string, string> }).headers.tenant
    const { client, departures } = pacedGot({ rate: 10, keyBy } as never)
    await client(site.origin, { headers: { tenant: 'one' } })
    expect(departures('one')).toBe(1)
  })
})

test('a URL that makes no sense is got’s own error and takes no slot', async () => {
  const { client, pacer } = pacedGot({ rate: 10 })
  const [paced, plain] = [await later(client('nowhere')), await later(got('nowhere'))]
  expect(String(paced)).toBe(String(plain))
  expect(pacer.stats().total.departures).toBe(0)
})

test('under fake timers, requests wait for the time that is played', async () => {
  const site = await serve()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const pacer = createPacer({ intervalMs: 30_000 })
  onTestFinished(() => pacer.close())
  const client = got.extend(pace(pacer))
  await client(site.origin)
  const second = client(site.origin)
  while (pacer.stats().total.queued === 0) await new Promise(setImmediate)
  await vi.advanceTimersByTimeAsync(29_000)
  expect(site.paths).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(2000)
  await second
  expect(site.paths).toHaveLength(2)
})
