import { connect } from 'node:net'
import { pace } from '@hostpace/undici'
import { Agent, type Dispatcher, interceptors, request } from 'undici'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Setting, serve, setUp, still, until, waiting } from './support.ts'

type Interceptor = Dispatcher.DispatcherComposeInterceptor

/** undici 6 has some of them only. */
const interceptorsOfUndici = interceptors as Partial<typeof interceptors>

const further: Record<string, Interceptor | undefined> = {
  redirect: interceptors.redirect({ maxRedirections: 3 }),
  retry: interceptors.retry({ minTimeout: 1 }),
  dump: interceptors.dump(),
  dns: dnsThat(['127.0.0.1', 4]),
  decompress: interceptorsOfUndici.decompress?.(),
  deduplicate: interceptorsOfUndici.deduplicate?.(),
  cache: interceptorsOfUndici.cache?.(),
  responseError: interceptorsOfUndici.responseError?.(),
}

/** What is composed later is further out. */
const orders: Record<string, (paced: Interceptor, other: Interceptor) => Interceptor[]> = {
  'pace first': (paced, other) => [paced, other],
  'pace last': (paced, other) => [other, paced],
}

describe.each(Object.entries(orders))('%s', (order, inOrder) => {
  const compose = ({ agent, pacer }: Setting, interceptor: Interceptor) =>
    agent.compose(inOrder(pace(pacer), interceptor))

  describe.each(Object.entries(further).filter(isThere))('with %s', (_name, interceptor) => {
    test('a request is paced and whole', async () => {
      const { origin, paths } = await serve()
      const setting = setUp()
      const { clock, pacer, departures } = setting
      const dispatcher = compose(setting, interceptor)
      await (await request(origin, { dispatcher })).body.text()
      const second = request(`${origin}/second`, { dispatcher })
      await waiting(pacer, 1)
      await clock.advanceAsync(999)
      await still()
      expect(paths).toEqual(['/'])
      await clock.advanceAsync(1)
      await (await second).body.text()
      expect(departures).toEqual([origin, origin])
      await until(() => pacer.stats().total.inFlight === 0)
    })

    test('an abort while it waits rejects with the reason, and nothing is sent', async () => {
      const { origin, paths } = await serve()
      const setting = setUp()
      const { clock, pacer } = setting
      const dispatcher = compose(setting, interceptor)
      await (await request(origin, { dispatcher })).body.dump()
      const abort = new AbortController()
      const sent = request(`${origin}/aborted`, { dispatcher, signal: abort.signal })
      await waiting(pacer, 1)
      const reason = new Error('enough')
      abort.abort(reason)
      await expect(sent).rejects.toBe(reason)
      await clock.advanceAsync(10_000)
      await still()
      expect(paths).toEqual(['/'])
      expect(pacer.stats().total).toMatchObject({ queued: 0, inFlight: 0, departures: 1 })
    })
  })

  describe('dns', () => {
    test('the key is the name, whichever of its addresses is asked', async () => {
      const { origin, paths } = await serve()
      const named = origin.replace('127.0.0.1', 'site.example')
      const setting = setUp()
      const { clock, pacer, departures } = setting
      const asked: string[] = []
      const agent = agentTo(origin, (address) => void asked.push(address))
      const dispatcher = compose({ ...setting, agent }, dnsThat(['127.0.0.2', 4], ['::1', 6], ['127.0.0.3', 4]))
      for (const path of ['/1', '/2', '/3']) {
        const sent = request(named + path, { dispatcher })
        if (path !== '/1') {
          await waiting(pacer, 1)
          await clock.advanceAsync(1000)
        }
        await (await sent).body.text()
      }
      expect(new Set(asked)).toEqual(new Set(['127.0.0.2', '::1', '127.0.0.3']))
      expect(paths).toEqual(['/1', '/2', '/3'])
      expect(departures).toEqual([named, named, named])
    })

    test('the second address is tried under the name too', async () => {
      const { origin } = await serve()
      const named = origin.replace('127.0.0.1', 'site.example')
      const setting = setUp()
      const { clock, pacer, departures } = setting
      const agent = agentTo(origin, (address) =>
        address === '127.0.0.2' ? Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) : undefined,
      )
      const dispatcher = compose({ ...setting, agent }, dnsThat(['127.0.0.2', 4], ['::1', 6]))
      const sent = request(named, { dispatcher })
      if (order === 'pace first') {
        await waiting(pacer, 1)
        await clock.advanceAsync(1000)
      }
      expect(await (await sent).body.text()).toBe('ok')
      expect(departures).toEqual(order === 'pace first' ? [named, named] : [named])
      expect(pacer.stats().total.inFlight).toBe(0)
    })

    test('a redirect to another name goes by that', async () => {
      let other = ''
      const { origin } = await serve((incoming, response) => {
        if (incoming.url === '/there') response.end('ok')
        else response.writeHead(302, { location: `${other}/there` }).end()
      })
      const one = origin.replace('127.0.0.1', 'one.example')
      other = origin.replace('127.0.0.1', 'other.example')
      const setting = setUp()
      const redirect = interceptors.redirect({ maxRedirections: 1 })
      const dispatcher = compose(setting, dnsThat(['127.0.0.1', 4])).compose(redirect)
      await (await request(one, { dispatcher })).body.text()
      expect(setting.departures).toEqual([one, other])
    })
  })

  test.runIf(further.cache)(
    'cache: a hit costs nothing with pace first, and as much as a miss with pace last',
    async () => {
      const { origin, paths } = await serve((_incoming, response) => {
        response.writeHead(200, { 'cache-control': 'max-age=60' }).end('cached')
      })
      const setting = setUp()
      const { clock, pacer, departures } = setting
      const dispatcher = compose(setting, interceptors.cache())
      const get = async () => (await request(origin, { dispatcher })).body.text()
      expect(await get()).toBe('cached')
      const again = get()
      if (order === 'pace last') {
        await waiting(pacer, 1)
        await clock.advanceAsync(1000)
      }
      expect(await again).toBe('cached')
      expect(paths).toEqual(['/'])
      expect(departures).toHaveLength(order === 'pace last' ? 2 : 1)
      expect(pacer.stats().total.inFlight).toBe(0)
    },
  )

  test.runIf(further.cache)(
    'cache: what it revalidates behind a stale answer is paced with pace first only',
    async () => {
      const { origin, paths } = await serve((_incoming, response) => {
        response.writeHead(200, { 'cache-control': 'max-age=1, stale-while-revalidate=600' }).end('cached')
      })
      const setting = setUp()
      const { clock, pacer, departures } = setting
      const dispatcher = compose(setting, interceptors.cache())
      const get = async () => (await request(origin, { dispatcher })).body.text()
      vi.useFakeTimers({ toFake: ['Date'] })
      onTestFinished(() => void vi.useRealTimers())
      await get()
      vi.setSystemTime(Date.now() + 10_000)
      const stale = get()
      await waiting(pacer, 1)
      if (order === 'pace last') {
        await clock.advanceAsync(1000)
        expect(await stale).toBe('cached')
        await until(() => paths.length === 2)
        // One for the stale answer, and none for what went out.
        expect(departures).toHaveLength(2)
        return
      }
      expect(await stale).toBe('cached')
      await still()
      expect(paths).toHaveLength(1)
      await clock.advanceAsync(1000)
      await until(() => paths.length === 2)
      expect(departures).toHaveLength(2)
    },
  )

  test('redirect: each hop is paced with pace first only', async () => {
    const { origin, paths } = await serve((incoming, response) => {
      if (incoming.url === '/there') response.end('ok')
      else response.writeHead(302, { location: '/there' }).end()
    })
    const setting = setUp()
    const { clock, pacer, departures } = setting
    const sent = request(origin, { dispatcher: compose(setting, interceptors.redirect({ maxRedirections: 1 })) })
    if (order === 'pace first') {
      await waiting(pacer, 1)
      await clock.advanceAsync(1000)
    }
    expect(await (await sent).body.text()).toBe('ok')
    expect(paths).toEqual(['/', '/there'])
    expect(departures).toHaveLength(order === 'pace first' ? 2 : 1)
  })

  test('retry: each attempt is paced with pace first only', async () => {
    const { origin, paths } = await serve(
      (_incoming, response, nth) => void response.writeHead(nth < 3 ? 503 : 200).end(),
    )
    const { pacer, agent, departures } = setUp({ intervalMs: 1, clock: { now: () => performance.now() } })
    const dispatcher = compose({ pacer, agent } as Setting, interceptors.retry({ minTimeout: 1 }))
    expect((await request(origin, { dispatcher })).statusCode).toBe(200)
    expect(paths).toHaveLength(3)
    expect(departures).toHaveLength(order === 'pace first' ? 3 : 1)
  })

  test.runIf(further.responseError)(
    'responseError: the pacer learns from an answer that becomes an error',
    async () => {
      const { origin } = await serve((_incoming, response) => {
        response.writeHead(429, { 'retry-after': '30', 'content-type': 'text/plain' }).end('slower')
      })
      const setting = setUp({ adapt: true })
      const seen: { status: unknown; error: unknown }[] = []
      setting.pacer.on('observe', ({ status, error }) => void seen.push({ status, error }))
      const sent = request(origin, { dispatcher: compose(setting, interceptors.responseError()) })
      await expect(sent).rejects.toMatchObject({ statusCode: 429 })
      expect(seen).toEqual([{ status: 429, error: undefined }])
      expect((await setting.pacer.peek(origin)).waitMs).toBe(30_000)
      expect(setting.pacer.stats().total.inFlight).toBe(0)
    },
  )

  test.runIf(further.decompress)('decompress: the body comes as text', async () => {
    const { gzipSync } = await import('node:zlib')
    const { origin } = await serve((_incoming, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('unpacked'))
    })
    const setting = setUp()
    const { body } = await request(origin, { dispatcher: compose(setting, interceptors.decompress()) })
    expect(await body.text()).toBe('unpacked')
    await until(() => setting.pacer.stats().total.inFlight === 0)
  })

  test('dump: the body is read to its end for the permit', async () => {
    const { origin } = await serve((_incoming, response) => void response.end('x'.repeat(1000)))
    const setting = setUp({ concurrency: 1 })
    const { statusCode } = await request(origin, { dispatcher: compose(setting, interceptors.dump()) })
    expect(statusCode).toBe(200)
    await until(() => setting.pacer.stats().total.inFlight === 0)
  })
})

function isThere(entry: [string, Interceptor | undefined]): entry is [string, Interceptor] {
  return entry[1] !== undefined
}

/** Finds these addresses for every name. */
function dnsThat(...addresses: [address: string, family: 4 | 6][]): Interceptor {
  return interceptors.dns({
    lookup: (_origin, _options, done) =>
      done(
        null,
        addresses.map(([address, family]) => ({ address, family, ttl: 60_000 })),
      ),
  })
}

/** Connects to `origin` wherever it is told to, and looks at the address first, which may fail. */
function agentTo(origin: string, look: (address: string) => Error | undefined): Agent {
  const agent = new Agent({
    connect({ hostname }, callback) {
      const error = look(hostname.replace(/^\[|\]$/g, ''))
      if (error) return void setImmediate(() => callback(error, null))
      const socket = connect({ port: Number(new URL(origin).port), host: '127.0.0.1' })
      socket.once('connect', () => callback(null, socket as never))
    },
  })
  onTestFinished(() => agent.destroy())
  return agent
}
