/** Clients that take a fetch function, on top of a paced one. */
import { createPacer, HostpaceError } from '@hostpace/core'
import { pace } from '@hostpace/fetch'
import ky, { isHTTPError } from 'ky'
import { createFetch } from 'ofetch'
import { expect, onTestFinished, test } from 'vitest'
import { failureOf, fast, redirectTo, serve, setUp, streamOf } from './support.ts'

/** Refuses the first request for a second, then is well again. */
const limited = () =>
  serve((_request, response, nth) =>
    nth === 1 ? void response.writeHead(429, { 'retry-after': '1' }).end('slow') : void response.end('{"ok":true}'),
  )

/** Learns from answers, in real time. */
function learning() {
  const pacer = createPacer({ ...fast, concurrency: 1 })
  onTestFinished(() => pacer.close())
  return pacer
}

function expectTwoEqualHits(hits: readonly { body: string; atMs: number }[]): void {
  expect(hits.map(({ body }) => body)).toEqual(['{"n":1}', '{"n":1}'])
  const [first, second] = hits.map(({ atMs }) => atMs) as [number, number]
  expect(second - first).toBeGreaterThanOrEqual(995)
  expect(second - first).toBeLessThan(1900)
}

test('ky, B02: a repeated POST has its body, and Retry-After is waited once', async () => {
  const a = await limited()
  const pacer = learning()
  const client = ky.create({
    fetch: pace(fetch, pacer),
    retry: { methods: ['post'], limit: 2 },
    parseJson: (text) => ({ ...JSON.parse(text), parsed: true }),
    // ky leaves unread what it repeats.
    hooks: { beforeRetry: [({ error }) => (isHTTPError(error) ? error.response.body?.cancel() : undefined)] },
  })
  expect(await client.post(a.origin, { json: { n: 1 } }).json()).toEqual({ ok: true, parsed: true })
  expectTwoEqualHits(a.hits)
  expect(pacer.stats().total).toMatchObject({ departures: 2, inFlight: 0 })
})

test('ky: redirects are paced by their own hosts, and hostpace options arrive', async () => {
  const b = await serve()
  const a = await serve(redirectTo(`${b.origin}/x`, 307))
  const { pacer, departures } = setUp(fast)
  const client = ky.create({ fetch: pace(fetch, pacer) })
  expect(await client.post(a.origin, { body: 'twelve bytes', hostpace: { key: 'mine' } } as object).text()).toBe('ok')
  expect(departures).toEqual(['mine', b.origin])
  expect(b.hits[0]?.body).toBe('twelve bytes')
})

test('ofetch, B02: a repeated POST has its body, and Retry-After is waited once', async () => {
  const a = await limited()
  const pacer = learning()
  const client = createFetch({ fetch: pace(fetch, pacer) })
  expect(await client(a.origin, { method: 'POST', body: { n: 1 }, retry: 1 })).toEqual({ ok: true })
  expectTwoEqualHits(a.hits)
  expect(pacer.stats().total).toMatchObject({ departures: 2, inFlight: 0 })
})

test('ofetch: what the pacer refuses is the cause of its FetchError', async () => {
  const { pacer } = setUp({ intervalMs: 1000, maxWaitMs: 0 })
  const client = createFetch({ fetch: pace(async () => new Response('ok'), pacer) as typeof fetch })
  await client('http://a.example/')
  expect((await failureOf(client('http://a.example/', { retry: 0 }))).cause).toBeInstanceOf(HostpaceError)
})

test('B02: a one-shot stream is sent once, and the 429 handed back as it is', async () => {
  const a = await limited()
  const { stream } = streamOf('{"n":1}')
  const request = new Request(a.origin, { method: 'POST', body: stream, duplex: 'half' } as RequestInit)
  const paced = pace(fetch, learning())
  const response = await paced(request)
  expect([response.status, await response.text()]).toEqual([429, 'slow'])
  expect(await failureOf(paced(request))).toBeInstanceOf(TypeError)
  expect(a.hits.map(({ body }) => body)).toEqual(['{"n":1}'])
})
