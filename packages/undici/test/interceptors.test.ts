import { pace } from '@hostpace/undici'
import { type Dispatcher, interceptors, RetryAgent, request } from 'undici'
import { describe, expect, test } from 'vitest'
import { serve, setUp, still, waiting } from './support.ts'

test('what the cache answers costs nothing, a revalidation does', async () => {
  const { origin, paths } = await serve((incoming, response) => {
    const fresh = incoming.headers['if-none-match'] === '"v1"'
    const headers = { 'cache-control': incoming.url === '/stale' ? 'no-cache' : 'max-age=60', etag: '"v1"' }
    response.writeHead(fresh ? 304 : 200, headers).end(fresh ? undefined : 'cached')
  })
  const { clock, pacer, agent, departures } = setUp()
  const statuses: unknown[] = []
  pacer.on('observe', ({ status }) => void statuses.push(status))
  const dispatcher = agent.compose(pace(pacer), interceptors.cache())
  const get = async (path: string) => (await request(origin + path, { dispatcher })).body.text()
  for (let n = 0; n < 10; n++) expect(await get('/fresh')).toBe('cached')
  expect(departures).toHaveLength(1)

  await clock.advanceAsync(1000)
  expect(await get('/stale')).toBe('cached')
  const again = get('/stale')
  await waiting(pacer, 1)
  await clock.advanceAsync(1000)
  expect(await again).toBe('cached')
  expect(paths).toEqual(['/fresh', '/stale', '/stale'])
  expect(statuses).toEqual([200, 200, 304])
})

test('one of several identical requests leaves for all of them', async () => {
  const { origin, paths } = await serve()
  const { pacer, agent, departures } = setUp()
  const dispatcher = agent.compose(pace(pacer), interceptors.deduplicate())
  const texts = Array.from({ length: 3 }, async () => (await request(origin, { dispatcher })).body.text())
  expect(await Promise.all(texts)).toEqual(['ok', 'ok', 'ok'])
  expect(paths).toHaveLength(1)
  expect(departures).toHaveLength(1)
})

describe.each(['interceptor', 'RetryAgent'])('retry: %s', (kind) => {
  const withRetry = (paced: Dispatcher, options: object) =>
    kind === 'RetryAgent'
      ? new RetryAgent(paced as never, { throwOnError: false, ...options })
      : paced.compose(interceptors.retry({ throwOnError: false, ...options }))

  test('C06: a Retry-After beyond the most that undici waits is waited in full', async () => {
    const { origin, paths } = await serve((_request, response, nth) => {
      response.writeHead(nth === 1 ? 429 : 200, nth === 1 ? { 'retry-after': '120' } : {}).end('ok')
    })
    const { clock, pacer, agent } = setUp({ intervalMs: 1, adapt: true })
    // undici cuts the wait to `maxTimeout`: 30 s by default, 20 ms here.
    const dispatcher = withRetry(agent.compose(pace(pacer)), { maxTimeout: 20 })
    const sent = request(origin, { dispatcher })
    await waiting(pacer, 1)
    await clock.advanceAsync(119_999)
    await still()
    expect(paths).toHaveLength(1)
    await clock.advanceAsync(1)
    expect(await (await sent).body.text()).toBe('ok')
    expect(paths).toHaveLength(2)
  })

  test('an abort while the second attempt waits', async () => {
    const { origin, paths } = await serve((_request, response) => void response.writeHead(503).end())
    const { clock, pacer, agent } = setUp()
    const dispatcher = withRetry(agent.compose(pace(pacer)), { minTimeout: 1 })
    const abort = new AbortController()
    const sent = request(origin, { dispatcher, signal: abort.signal })
    await waiting(pacer, 1)
    abort.abort()
    await expect(sent).rejects.toBe(abort.signal.reason)
    await clock.advanceAsync(10_000)
    await still()
    expect(paths).toHaveLength(1)
  })
})

test.each([true, false])('the retry interceptor as it is, throwOnError: %s', async (throwOnError) => {
  const { origin, paths } = await serve((_request, response, nth) => void response.writeHead(nth < 3 ? 503 : 200).end())
  const { pacer, agent, departures } = setUp({ intervalMs: 1, clock: { now: () => performance.now() } })
  const errors: unknown[] = []
  pacer.on('observe', ({ error }) => error !== undefined && errors.push(error))
  const dispatcher = agent.compose(pace(pacer), interceptors.retry({ minTimeout: 1, throwOnError }))
  expect((await request(origin, { dispatcher })).statusCode).toBe(200)
  expect(paths).toHaveLength(3)
  expect(departures).toHaveLength(3)
  expect(errors).toEqual([])
  const given = agent.compose(pace(pacer), interceptors.retry({ minTimeout: 1, maxRetries: 1, throwOnError }))
  paths.length = 0
  const sent = request(`${origin}/again`, { dispatcher: given })
  if (throwOnError) await expect(sent).rejects.toMatchObject({ code: 'UND_ERR_REQ_RETRY', statusCode: 503 })
  else expect((await sent).statusCode).toBe(503)
  expect(pacer.stats().total.inFlight).toBe(0)
})

test('what an interceptor beneath adds to the context arrives', async () => {
  const { origin } = await serve((incoming, response) => {
    if (incoming.url === '/ok') response.end('ok')
    else response.writeHead(302, { location: '/ok' }).end()
  })
  const { pacer, agent } = setUp()
  const dispatcher = agent.compose(interceptors.redirect({ maxRedirections: 2 }), pace(pacer))
  const { body, context } = await request(`${origin}/moved`, { dispatcher })
  await body.dump()
  expect((context as { history: URL[] }).history.map(String)).toEqual([`${origin}/moved`, `${origin}/ok`])
})
