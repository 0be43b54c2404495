import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPacer, type PacerOptions } from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'
import { pace } from '@hostpace/undici'
import nock from 'nock'
import { type Dispatcher, getGlobalDispatcher, MockAgent, setGlobalDispatcher } from 'undici'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isNock15 } from './nock-version.ts'

// nock takes the place of fetch as soon as it is imported.
nock.restore()

async function serve() {
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(request.url ?? '')
    if (request.url === '/moved') response.writeHead(302, { location: '/there' }).end()
    else request.on('data', (chunk) => response.write(chunk)).on('end', () => response.end('ok'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths }
}

/** Paces whatever goes through the global dispatcher, or another one, for one test. */
function paceGlobally(options: PacerOptions = {}, dispatcher: Dispatcher = getGlobalDispatcher()) {
  const clock = new ManualClock()
  const pacer = createPacer({ intervalMs: 1000, adapt: false, clock, ...options })
  const before = getGlobalDispatcher()
  setGlobalDispatcher(dispatcher.compose(pace(pacer)))
  onTestFinished(async () => {
    setGlobalDispatcher(before)
    await pacer.close()
  })
  const departures: string[] = []
  pacer.on('depart', ({ key }) => void departures.push(key))
  const waiting = async (count: number) => {
    while (pacer.stats().total.queued !== count) await new Promise((resolve) => setTimeout(resolve, 1))
  }
  return { clock, pacer, departures, waiting }
}

/** Lets what is on its way arrive; nothing here depends on how long it takes. */
const still = () => new Promise((resolve) => setTimeout(resolve, 25))

describe('fetch of Node', () => {
  test('is paced by the global dispatcher, redirects included', async () => {
    const { origin, paths } = await serve()
    const { clock, departures, waiting } = paceGlobally()
    const sent = fetch(`${origin}/moved`)
    await waiting(1)
    await clock.advanceAsync(999)
    await still()
    expect(paths).toEqual(['/moved'])
    await clock.advanceAsync(1)
    expect(await (await sent).text()).toBe('ok')
    expect(paths).toEqual(['/moved', '/there'])
    expect(departures).toEqual([origin, origin])
  })

  test('an abort while it waits rejects with exactly the reason, and AbortSignal.timeout with a TimeoutError', async () => {
    const { origin, paths } = await serve()
    const { waiting } = paceGlobally()
    await (await fetch(origin)).text()
    const abort = new AbortController()
    const sent = fetch(origin, { signal: abort.signal })
    await waiting(1)
    const reason = { why: 'no longer wanted' }
    abort.abort(reason)
    await expect(sent).rejects.toBe(reason)
    await expect(fetch(origin, { signal: AbortSignal.timeout(20) })).rejects.toMatchObject({ name: 'TimeoutError' })
    await waiting(0)
    expect(paths).toHaveLength(1)
  })

  test('our errors are the cause of its own', async () => {
    const { origin } = await serve()
    paceGlobally({ onLimit: 'reject' })
    await (await fetch(origin)).text()
    const error = await fetch(origin).catch((error) => error)
    expect(error).toBeInstanceOf(TypeError)
    expect(error.cause).toMatchObject({ code: 'ERR_HOSTPACE_LIMITED', waitMs: 1000 })
  })

  test.each([
    ['text', () => 'sent'],
    ['form', () => new URLSearchParams({ a: 'sent' })],
    ['multipart form', () => formWith('sent')],
    ['stream', () => new Blob(['sent']).stream()],
  ])('a body arrives whole: %s', async (_kind, makeBody) => {
    const { origin } = await serve()
    const { clock, waiting } = paceGlobally()
    await (await fetch(origin)).text()
    const init = { method: 'POST', body: makeBody(), duplex: 'half' }
    const sent = fetch(origin, init as RequestInit)
    await waiting(1)
    await clock.advanceAsync(1000)
    expect(await (await sent).text()).toContain('sent')
  })

  test('data: URLs cost nothing', async () => {
    const { departures } = paceGlobally()
    expect(await (await fetch('data:,hello')).text()).toBe('hello')
    expect(departures).toEqual([])
  })

  test('a MockAgent that is paced and then made global', async () => {
    const mocks = new MockAgent()
    onTestFinished(() => mocks.close())
    mocks.get('http://a.example').intercept({ path: '/' }).reply(200, 'mocked').times(2)
    const { clock, departures, waiting } = paceGlobally({}, mocks)
    expect(await (await fetch('http://a.example/')).text()).toBe('mocked')
    const second = fetch('http://a.example/')
    await waiting(1)
    await clock.advanceAsync(1000)
    expect(await (await second).text()).toBe('mocked')
    expect(departures).toHaveLength(2)
  })

  test('limit: whoever sets the global dispatcher later replaces the pacing', async () => {
    const mocks = new MockAgent()
    onTestFinished(() => mocks.close())
    mocks.get('http://a.example').intercept({ path: '/' }).reply(200, 'mocked')
    const { departures } = paceGlobally()
    setGlobalDispatcher(mocks)
    expect(await (await fetch('http://a.example/')).text()).toBe('mocked')
    expect(departures).toEqual([])
  })
})

describe('fetch of Node under nock', () => {
  function withNock() {
    nock.activate()
    onTestFinished(() => {
      nock.cleanAll()
      nock.restore()
    })
  }

  test('what nock mocks; limit of nock 14: it does not come to the dispatcher, and so is not paced', async () => {
    withNock()
    nock('http://a.example').get('/').reply(200, 'mocked')
    const { departures } = paceGlobally()
    expect(await (await fetch('http://a.example/')).text()).toBe('mocked')
    expect(departures).toEqual(isNock15 ? ['http://a.example'] : [])
  })

  test('what nock lets through is paced', async () => {
    const { origin, paths } = await serve()
    withNock()
    const { clock, departures, waiting } = paceGlobally()
    expect(await (await fetch(origin)).text()).toBe('ok')
    const second = fetch(origin)
    await waiting(1)
    expect(paths).toHaveLength(1)
    await clock.advanceAsync(1000)
    await (await second).text()
    expect(departures).toEqual([origin, origin])
  })
})

function formWith(value: string): FormData {
  const form = new FormData()
  form.set('field', value)
  return form
}
