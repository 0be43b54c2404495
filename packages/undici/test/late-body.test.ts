import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { pace } from '@hostpace/undici'
import { Agent, type Dispatcher, interceptors, request } from 'undici'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Setting, serve, setUp, still, until } from './support.ts'

/** Sends back what it gets. */
const echo = (incoming: IncomingMessage, response: ServerResponse) => void incoming.pipe(response)

/** Chunks that come when the test says so. */
function upload() {
  let give = (_chunks: string[]) => {}
  const given = new Promise<string[]>((resolve) => {
    give = resolve
  })
  async function* chunks() {
    for (const chunk of await given) yield Buffer.from(chunk)
  }
  return { give, chunks: chunks() }
}

const kinds: Record<string, (chunks: AsyncIterable<Buffer>) => unknown> = {
  stream: (chunks) => Readable.from(chunks, { objectMode: false }),
  iterable: (chunks) => chunks,
  'web stream': (chunks) => Readable.toWeb(Readable.from(chunks, { objectMode: false })),
}

const post = (origin: string, dispatcher: Dispatcher, body: unknown, signal?: AbortSignal) =>
  request(origin, { dispatcher, method: 'POST', body: body as Readable, signal: signal ?? null })

/** Until the interceptor has handed the request to undici, and that holds the connection. */
async function dispatched({ pacer }: Setting): Promise<void> {
  await until(() => pacer.stats().total.inFlight === 1)
  await still()
}

describe.each(Object.entries(kinds))('an upload whose first chunk comes late: %s', (_name, bodyOf) => {
  test('the interval is measured from when the host sees it', async () => {
    const { origin, paths } = await serve(echo)
    const setting = setUp()
    const { clock, pacer, agent } = setting
    const { give, chunks } = upload()
    const sent = post(origin, agent.compose(pace(pacer)), bodyOf(chunks))
    await dispatched(setting)
    await clock.advanceAsync(5000)
    expect(paths).toEqual([])
    expect((await pacer.peek(origin)).waitMs).toBe(1000)
    give(['one ', 'two'])
    expect(await (await sent).body.text()).toBe('one two')
    await clock.advanceAsync(400)
    expect((await pacer.peek(origin)).waitMs).toBe(600)
  })

  test('what it gives before the connection stands is not lost', async () => {
    const { origin } = await serve(echo)
    const setting = setUp()
    let connectNow = () => {}
    const agent = new Agent({
      connect(_options, callback) {
        const { port } = new URL(origin)
        connectNow = () => {
          const socket = connect({ port: Number(port), host: '127.0.0.1' })
          socket.once('connect', () => callback(null, socket as never))
        }
      },
    })
    onTestFinished(() => agent.destroy())
    const { give, chunks } = upload()
    give(['one ', 'two'])
    const sent = post(origin, agent.compose(pace(setting.pacer)), bodyOf(chunks))
    await dispatched(setting)
    connectNow()
    expect(await (await sent).body.text()).toBe('one two')
  })

  test('an empty one is seen when it ends', async () => {
    const { origin } = await serve(echo)
    const setting = setUp()
    const { clock, pacer, agent } = setting
    const { give, chunks } = upload()
    const sent = post(origin, agent.compose(pace(pacer)), bodyOf(chunks))
    await dispatched(setting)
    give([])
    await (await sent).body.text()
    await clock.advanceAsync(400)
    expect((await pacer.peek(origin)).waitMs).toBe(600)
  })

  test('one that is aborted before its first chunk gives the slot back', async () => {
    const { origin, paths } = await serve(echo)
    const setting = setUp()
    const { pacer, agent } = setting
    const abort = new AbortController()
    const sent = post(origin, agent.compose(pace(pacer)), bodyOf(upload().chunks), abort.signal)
    await dispatched(setting)
    abort.abort()
    await expect(sent).rejects.toBe(abort.signal.reason)
    expect(await pacer.peek(origin)).toMatchObject({ waitMs: 0, inFlight: 0 })
    expect(paths).toEqual([])
  })

  test('it comes whole through a retry, and two pacers hear of the write', async () => {
    const { origin } = await serve(echo)
    const [outer, inner] = [setUp(), setUp()]
    const { give, chunks } = upload()
    const paced = outer.agent.compose(pace(inner.pacer), pace(outer.pacer), pace(outer.pacer), interceptors.retry())
    const sent = post(origin, paced, bodyOf(chunks))
    await dispatched(inner)
    for (const { clock } of [outer, inner]) await clock.advanceAsync(5000)
    give(['one ', 'two'])
    expect(await (await sent).body.text()).toBe('one two')
    for (const { clock, pacer } of [outer, inner]) {
      await clock.advanceAsync(400)
      expect((await pacer.peek(origin)).waitMs).toBe(600)
    }
  })
})

describe('a host need not see the first chunk', () => {
  /** Hands a late upload to something that starts it and writes nothing. */
  async function start() {
    const { clock, pacer } = setUp()
    const origin = 'http://127.0.0.1:9'
    const controller = { aborted: false, paused: false, reason: null, abort() {}, pause() {}, resume() {} }
    let started: Dispatcher.DispatchHandler | undefined
    const dispatch: Dispatcher.Dispatch = (_options, handler) => {
      handler.onRequestStart?.(controller as never, {})
      started = handler
      return true
    }
    const body = Readable.from(upload().chunks)
    pace(pacer)(dispatch)({ origin, path: '/', method: 'POST', body }, { onRequestStart() {} })
    // Not with a timer, which may be a false one.
    while (started === undefined) await new Promise(setImmediate)
    const handler = started
    return {
      answer: () => handler.onResponseStart?.(controller as never, 200, {}),
      /** How long the next one waits when a good while has passed. */
      async nextWaitMs() {
        await new Promise(setImmediate)
        await clock.advanceAsync(400)
        return (await pacer.peek(origin)).waitMs
      },
    }
  }

  test('it is kept waiting for ten seconds and no longer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { nextWaitMs } = await start()
    vi.advanceTimersByTime(9999)
    expect(await nextWaitMs()).toBe(1000)
    vi.advanceTimersByTime(1)
    expect(await nextWaitMs()).toBe(600)
  })

  test('it may answer before, as over HTTP/2', async () => {
    const { answer, nextWaitMs } = await start()
    expect(await nextWaitMs()).toBe(1000)
    answer()
    expect(await nextWaitMs()).toBe(600)
  })
})
