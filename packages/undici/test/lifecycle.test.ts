import { getEventListeners, setMaxListeners } from 'node:events'
import { connect as connectTo } from 'node:net'
import { type Pacer, PolicyError } from '@hostpace/core'
import { pace } from '@hostpace/undici'
import { Agent, type Dispatcher, interceptors, request } from 'undici'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { serve, setUp, still, until, waiting } from './support.ts'

describe('a dispatcher that goes away', () => {
  test.each(['close', 'destroy'] as const)('%s: who waits is rejected and the place is free', async (how) => {
    const { origin, paths } = await serve()
    const { clock, pacer, agent } = setUp()
    await (await request(origin, { dispatcher: agent.compose(pace(pacer)) })).body.text()
    const other = new Agent()
    const sent = request(`${origin}/late`, { dispatcher: other.compose(pace(pacer)) })
    await waiting(pacer, 1)
    await other[how]()
    const rejected = expect(sent).rejects.toMatchObject({ code: 'UND_ERR_DESTROYED' })
    await clock.advanceAsync(1000)
    await rejected
    expect(pacer.stats().total).toMatchObject({ inFlight: 0, queued: 0 })
    await (await request(`${origin}/next`, { dispatcher: agent.compose(pace(pacer)) })).body.text()
    expect(paths).toEqual(['/', '/next'])
  })

  test('a dispatcher that throws rejects the request', async () => {
    const { origin } = await serve()
    const { pacer, agent } = setUp()
    const broken: Dispatcher.DispatcherComposeInterceptor = () => (_options, _handler) => {
      throw new TypeError('broken')
    }
    const dispatcher = agent.compose(broken, pace(pacer))
    await expect(request(origin, { dispatcher })).rejects.toThrow('broken')
    expect(pacer.stats().total.inFlight).toBe(0)
  })
})

describe('what the pacer is told', () => {
  test('that a request is written when undici writes it, not when it connects', async () => {
    const { origin } = await serve()
    const { clock, pacer } = setUp()
    let connect = () => {}
    const agent = new Agent({
      connect(_options, callback) {
        connect = () => callback(null, netConnect(origin) as never)
      },
    })
    onTestFinished(() => agent.destroy())
    const dispatcher = agent.compose(pace(pacer))
    const first = request(origin, { dispatcher })
    await until(() => pacer.stats().total.inFlight === 1)
    await clock.advanceAsync(5000)
    const { waitMs } = await pacer.peek(origin)
    expect(waitMs).toBe(1000)
    connect()
    await (await first).body.text()
    await clock.advanceAsync(400)
    expect((await pacer.peek(origin)).waitMs).toBe(600)
  })

  test('an abort before the connection stands rejects at once and gives the slot back', async () => {
    const { origin, paths } = await serve()
    const { pacer } = setUp()
    let connect = () => {}
    const agent = new Agent({
      connect(_options, callback) {
        connect = () => callback(null, netConnect(origin) as never)
      },
    })
    onTestFinished(() => agent.destroy())
    const abort = new AbortController()
    const sent = request(origin, { dispatcher: agent.compose(pace(pacer)), signal: abort.signal })
    await until(() => pacer.stats().total.inFlight === 1)
    await still()
    abort.abort()
    await expect(sent).rejects.toBe(abort.signal.reason)
    expect(await pacer.peek(origin)).toMatchObject({ waitMs: 0, inFlight: 0 })
    connect()
    await still()
    expect(paths).toEqual([])
  })

  test('the answer with its headers and the time to it', async () => {
    const { origin } = await serve((_request, response) => void response.end())
    const { pacer, agent } = setUp()
    const observed: { status?: unknown; headers?: unknown; latencyMs?: unknown }[] = []
    pacer.on('observe', (event) => void observed.push(event))
    await (await request(origin, { dispatcher: agent.compose(pace(pacer)) })).body.dump()
    expect(observed).toHaveLength(1)
    expect(observed[0]).toMatchObject({ status: 200, headers: expect.anything() })
    expect(observed[0]?.latencyMs).toBeGreaterThan(0)
  })

  test('the time to the answer without the wait for another pacer', async () => {
    const startedAtMs = performance.now()
    const { origin } = await serve()
    const [outer, inner] = [setUp(), setUp()]
    const latencies: number[] = []
    for (const { pacer } of [outer, inner]) pacer.on('observe', ({ latencyMs = NaN }) => void latencies.push(latencyMs))
    const dispatcher = outer.agent.compose(pace(inner.pacer), pace(outer.pacer))
    await (await request(origin, { dispatcher })).body.dump()
    await outer.clock.advanceAsync(1000)
    const sent = request(origin, { dispatcher })
    await waiting(inner.pacer, 1)
    const waitedFromMs = performance.now()
    await still()
    const waitedMs = performance.now() - waitedFromMs
    await inner.clock.advanceAsync(1000)
    await (await sent).body.dump()
    expect(latencies).toHaveLength(4)
    const spentMs = performance.now() - startedAtMs - waitedMs
    for (const latencyMs of latencies) expect(latencyMs).toBeLessThan(spentMs)
  })

  test('nothing of informational answers', async () => {
    const { origin } = await serve((_request, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' })
      response.end('ok')
    })
    const { pacer, agent } = setUp()
    const statuses: unknown[] = []
    const infos: unknown[] = []
    pacer.on('observe', ({ status }) => void statuses.push(status))
    const onInfo = ({ statusCode }: { statusCode: number }) => void infos.push(statusCode)
    await (await request(origin, { dispatcher: agent.compose(pace(pacer)), onInfo })).body.dump()
    expect(infos).toEqual([103])
    expect(statuses).toEqual([200])
  })
})

describe('one pacer twice, with a redirect in between', () => {
  test('each hop is charged once, also where only one may be in flight', async () => {
    const { origin, paths } = await serve((incoming, response) => {
      if (incoming.url === '/ok') response.end('ok')
      else response.writeHead(302, { location: '/ok' }).end()
    })
    const { clock, pacer, agent, departures } = setUp({ concurrency: 1 })
    const dispatcher = agent.compose(pace(pacer), interceptors.redirect({ maxRedirections: 3 }), pace(pacer))
    const sent = request(`${origin}/moved`, { dispatcher })
    await waiting(pacer, 1)
    await clock.advanceAsync(999)
    await still()
    expect(paths).toEqual(['/moved'])
    await clock.advanceAsync(1)
    expect(await (await sent).body.text()).toBe('ok')
    expect(departures).toHaveLength(2)
    expect(pacer.stats().total.inFlight).toBe(0)
  })
})

test('many who wait under one signal add one listener to those of undici, and all give up', async () => {
  const { origin, paths } = await serve()
  const { pacer, agent } = setUp()
  const dispatcher = agent.compose(pace(pacer))
  await (await request(origin, { dispatcher })).body.text()
  const abort = new AbortController()
  setMaxListeners(0, abort.signal)
  const sent = Array.from({ length: 20 }, () => request(origin, { dispatcher, signal: abort.signal }))
  await waiting(pacer, 20)
  expect(getEventListeners(abort.signal, 'abort')).toHaveLength(21)
  abort.abort()
  const endings = await Promise.allSettled(sent)
  expect(endings.every((end) => end.status === 'rejected' && end.reason === abort.signal.reason)).toBe(true)
  expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0)
  expect(pacer.stats().total.queued).toBe(0)
  expect(paths).toEqual(['/'])
})

test('a reservation is for one hop only', async () => {
  const { origin } = await serve((incoming, response) => {
    if (incoming.url === '/ok') response.end('ok')
    else response.writeHead(302, { location: '/ok' }).end()
  })
  const { pacer, agent, clock } = setUp()
  const wait = vi.spyOn(pacer, 'wait')
  const reservation = await (pacer as Pacer).reserve(origin)
  const dispatcher = agent.compose(pace(pacer), interceptors.redirect({ maxRedirections: 3 }))
  const sent = request(`${origin}/moved`, { dispatcher, hostpace: { reservation } })
  await waiting(pacer, 1)
  await clock.advanceAsync(1000)
  await (await sent).body.text()
  expect(wait.mock.calls.map(([, options]) => options?.reservation)).toEqual([reservation, undefined])
})

test('options that make no sense are refused when composing', () => {
  expect(() => pace({ rate: -1 })).toThrow(PolicyError)
})

test('an option of one request that makes no sense rejects that request', async () => {
  const { origin, paths } = await serve()
  const { pacer, agent } = setUp()
  const sent = request(origin, { dispatcher: agent.compose(pace(pacer)), hostpace: { cost: -1 } })
  await expect(sent).rejects.toThrow(PolicyError)
  expect(paths).toEqual([])
})

function netConnect(origin: string): unknown {
  return connectTo({ port: Number(new URL(origin).port), host: '127.0.0.1' })
}
