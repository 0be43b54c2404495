import { PassThrough, Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pace } from '@hostpace/undici'
import { type Dispatcher, fetch } from 'undici'
import { describe, expect, test } from 'vitest'
import { serve, setUp, still, waiting } from './support.ts'

type Call = (dispatcher: Dispatcher, origin: string, path: string, signal?: AbortSignal) => Promise<string>

/** The ways to send a request, each resolving with the body. */
const calls: Record<string, Call> = {
  async request(dispatcher, origin, path, signal) {
    const { body } = await dispatcher.request({ origin, path, method: 'GET', signal: signal ?? null })
    return body.text()
  },

  async stream(dispatcher, origin, path, signal) {
    let whole = ''
    const sink = () =>
      new Writable({
        write(chunk, _encoding, done) {
          whole += chunk
          done()
        },
      })
    await dispatcher.stream({ origin, path, method: 'GET', signal: signal ?? null }, sink)
    return whole
  },

  async pipeline(dispatcher, origin, path, signal) {
    const options = { origin, path, method: 'PUT', signal: signal ?? null } as const
    const duplex = dispatcher.pipeline(options, ({ body }) => body.pipe(new PassThrough()))
    return text(Readable.from(['up']).pipe(duplex))
  },

  async fetch(dispatcher, origin, path, signal) {
    return (await fetch(origin + path, { dispatcher, signal: signal ?? null })).text()
  },
}

describe.each(Object.entries(calls))('%s', (_name, call) => {
  test('is paced', async () => {
    const { origin, paths } = await serve()
    const { clock, pacer, agent, departures } = setUp()
    const dispatcher = agent.compose(pace(pacer))
    expect(await call(dispatcher, origin, '/1')).toBe('ok')
    const second = call(dispatcher, origin, '/2')
    await waiting(pacer, 1)
    await clock.advanceAsync(999)
    await still()
    expect(paths).toEqual(['/1'])
    await clock.advanceAsync(1)
    expect(await second).toBe('ok')
    expect(departures).toHaveLength(2)
    expect(pacer.stats().total.inFlight).toBe(0)
  })

  test('B06: an abort while it waits rejects with exactly the reason', async () => {
    const { origin, paths } = await serve()
    const { clock, pacer, agent } = setUp()
    const dispatcher = agent.compose(pace(pacer))
    await call(dispatcher, origin, '/1')
    const abort = new AbortController()
    const sent = call(dispatcher, origin, '/2', abort.signal)
    await waiting(pacer, 1)
    const reason = { why: 'no longer wanted' }
    abort.abort(reason)
    expect(pacer.stats().total.queued).toBe(0)
    await expect(sent).rejects.toBe(reason)
    await clock.advanceAsync(10_000)
    await still()
    expect(paths).toEqual(['/1'])
  })

  test('a signal that is aborted already takes no slot', async () => {
    const { origin, paths } = await serve()
    const { pacer, agent } = setUp()
    const dispatcher = agent.compose(pace(pacer))
    const signal = AbortSignal.abort(new Error('too late'))
    // `stream` and `pipeline` lose the reason by themselves.
    const plain: Error = await call(agent, origin, '/', signal).catch((error) => error)
    await expect(call(dispatcher, origin, '/', signal)).rejects.toThrow(plain)
    expect(pacer.stats().total).toMatchObject({ departures: 0, queued: 0, inFlight: 0 })
    expect(paths).toEqual([])
  })

  test('AbortSignal.timeout rejects with its TimeoutError', async () => {
    const { origin } = await serve()
    const { pacer, agent } = setUp()
    const dispatcher = agent.compose(pace(pacer))
    await call(dispatcher, origin, '/1')
    await expect(call(dispatcher, origin, '/2', AbortSignal.timeout(20))).rejects.toMatchObject({
      name: 'TimeoutError',
    })
  })
})

test('a stream of a pipeline that is destroyed while it waits gives its place back', async () => {
  const { origin, paths } = await serve()
  const { clock, pacer, agent } = setUp()
  const dispatcher = agent.compose(pace(pacer))
  await calls.request?.(dispatcher, origin, '/1')
  const duplex = dispatcher.pipeline({ origin, path: '/2', method: 'PUT' }, ({ body }) => body)
  duplex.on('error', () => {})
  await waiting(pacer, 1)
  duplex.destroy()
  await waiting(pacer, 0)
  await clock.advanceAsync(10_000)
  await still()
  expect(paths).toEqual(['/1'])
})

test('an upgrade is paced, and over once the protocol has changed', async () => {
  const { origin } = await serve()
  const { pacer, agent, departures } = setUp({ concurrency: 1 })
  const dispatcher = agent.compose(pace(pacer))
  const { socket } = await dispatcher.upgrade({ path: '/', protocol: 'test', ...({ origin } as object) })
  expect(departures).toEqual([origin])
  expect(pacer.stats().total.inFlight).toBe(0)
  socket.destroy()
})

test('an EventEmitter as signal', async () => {
  const { EventEmitter } = await import('node:events')
  const { origin } = await serve()
  const { pacer, agent } = setUp()
  const dispatcher = agent.compose(pace(pacer))
  await calls.request?.(dispatcher, origin, '/1')
  const signal = new EventEmitter()
  const sent = dispatcher.request({ origin, path: '/2', method: 'GET', signal })
  await waiting(pacer, 1)
  signal.emit('abort')
  await expect(sent).rejects.toMatchObject({ name: 'AbortError', code: 'UND_ERR_ABORTED' })
  expect(signal.listenerCount('abort')).toBe(0)
})

test('a body that is closed while it waits is an aborted request', async () => {
  const { origin, paths } = await serve()
  const { clock, pacer, agent } = setUp()
  const dispatcher = agent.compose(pace(pacer))
  await calls.request?.(dispatcher, origin, '/1')
  const body = new Readable({ read() {} })
  const sent = dispatcher.request({ origin, path: '/2', method: 'POST', body })
  await waiting(pacer, 1)
  body.destroy()
  await expect(sent).rejects.toMatchObject({ code: 'UND_ERR_ABORTED' })
  await clock.advanceAsync(10_000)
  await still()
  expect(paths).toEqual(['/1'])
})
