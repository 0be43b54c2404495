import { pace } from '@hostpace/fetch'
import { describe, expect, test } from 'vitest'
import { failureOf, fast, redirectTo, serve, setUp, streamOf } from './support.ts'

const upload = (stream: ReadableStream) => ({ method: 'POST', body: stream, duplex: 'half' }) as RequestInit

describe.each(['POST', 'PUT', 'GET'])('a redirected %s', (method) => {
  test.each([301, 302, 303, 307, 308])('is sent on after a %i as fetch does it', async (status) => {
    const b = await serve()
    const a = await serve(redirectTo(`${b.origin}/x`, status))
    const { pacer, departures, statuses } = setUp(fast)
    const init = {
      method,
      headers: { authorization: 'secret', cookie: 'a=1', 'proxy-authorization': 'secret', 'x-own': 'kept' },
      ...(method !== 'GET' && { body: 'the body' }),
    }
    const plain = await fetch(`${a.origin}/r`, init)
    const response = await pace(fetch, pacer)(`${a.origin}/r`, init)

    const [expected, hit] = b.hits
    const { host: _, ...headers } = hit?.headers ?? {}
    expect({ ...hit, headers, atMs: 0 }).toEqual({
      ...expected,
      headers: { ...expected?.headers, host: undefined },
      atMs: 0,
    })
    expect(headers).toMatchObject({ 'x-own': 'kept' })
    expect(headers).not.toHaveProperty('authorization')
    expect(headers).not.toHaveProperty('cookie')
    expect(headers).not.toHaveProperty('proxy-authorization')
    expect([response.url, response.redirected, response.type]).toEqual([plain.url, true, plain.type])
    expect(await response.text()).toBe('ok')
    expect(departures).toEqual([a.origin, b.origin])
    expect(statuses).toEqual([status, 200])
    expect(pacer.stats().total.inFlight).toBe(0)
  })
})

test('within one origin the secrets stay', async () => {
  const a = await serve((request, response, nth) =>
    request.url === '/r' ? redirectTo('/x')(request, response, nth) : void response.end(),
  )
  await pace(fetch, setUp(fast).pacer)(`${a.origin}/r`, { headers: { authorization: 'secret', cookie: 'a=1' } })
  expect(a.hits[1]?.headers).toMatchObject({ authorization: 'secret', cookie: 'a=1' })
})

test.each([301, 302, 307, 308])('a stream is not sent again after a %i', async (status) => {
  const a = await serve(redirectTo('/x', status))
  const { pacer } = setUp(fast)
  const plain = await failureOf(fetch(a.origin, upload(streamOf('body').stream)))
  const error = await failureOf(pace(fetch, pacer)(a.origin, upload(streamOf('body').stream)))
  expect(error).toBeInstanceOf(TypeError)
  expect([error.name, error.message]).toEqual([plain.name, plain.message])
  expect(a.hits.map(({ path }) => path)).toEqual(['/', '/'])
  expect(pacer.stats().total).toMatchObject({ queued: 0, inFlight: 0 })
})

test('a stream that became a GET by a 303 need not be', async () => {
  const a = await serve((request, response, nth) =>
    request.url === '/x' ? void response.end('there') : redirectTo('/x', 303)(request, response, nth),
  )
  const response = await pace(fetch, setUp(fast).pacer)(a.origin, upload(streamOf('body').stream))
  expect(await response.text()).toBe('there')
  expect(a.hits.map(({ method, body }) => [method, body])).toEqual([
    ['POST', 'body'],
    ['GET', ''],
  ])
})

test('a Request is sent on with its body, headers and method', async () => {
  const b = await serve()
  const a = await serve(redirectTo(`${b.origin}/x#y`, 307))
  const form = new FormData()
  form.append('field', 'value')
  const request = new Request(a.origin, { method: 'POST', body: form, headers: { 'x-own': 'kept' } })
  const response = await pace(fetch, setUp(fast).pacer)(request)
  expect(response.ok).toBe(true)
  expect(b.hits[0]?.body).toBe(a.hits[0]?.body)
  expect(b.hits[0]?.body).toContain('name="field"')
  expect(b.hits[0]?.headers['content-type']).toBe(a.hits[0]?.headers['content-type'])
  expect(b.hits[0]?.headers['x-own']).toBe('kept')
  expect(request.bodyUsed).toBe(true)
})

test('twenty redirects are followed, and no more', async () => {
  const a = await serve((_request, response, nth) => redirectTo(`/${nth}`)(_request, response, nth))
  const { pacer, departures } = setUp(fast)
  const plain = await failureOf(fetch(a.origin))
  const hits = a.hits.length
  const error = await failureOf(pace(fetch, pacer)(a.origin))
  expect([error.name, error.message]).toEqual([plain.name, plain.message])
  expect(hits).toBe(21)
  expect(a.hits.length - hits).toBe(21)
  expect(departures).toHaveLength(21)
  expect(pacer.stats().total.inFlight).toBe(0)
})

test.each(['http://', 'ftp://a.example/', 'http://user:secret@a.example/'])('a redirect to %s fails', async (to) => {
  const a = await serve(redirectTo(to))
  const { pacer, departures } = setUp(fast)
  const plain = await failureOf(fetch(a.origin))
  const error = await failureOf(pace(fetch, pacer)(a.origin))
  expect([error.name, error.message]).toEqual([plain.name, plain.message])
  expect(departures).toEqual([a.origin])
  expect(pacer.stats().total.inFlight).toBe(0)
})

test('a redirect without a location is the answer', async () => {
  const a = await serve((_request, response) => void response.writeHead(302).end('nowhere'))
  const response = await pace(fetch, setUp(fast).pacer)(a.origin)
  expect([response.status, response.redirected, await response.text()]).toEqual([302, false, 'nowhere'])
})

test("'manual' and 'error' are as in fetch", async () => {
  const a = await serve(redirectTo('/x'))
  const { pacer, departures, statuses } = setUp(fast)
  const paced = pace(fetch, pacer)
  const response = await paced(new Request(a.origin, { redirect: 'manual' }))
  expect([response.status, response.redirected, await response.text()]).toEqual([302, false, 'moved'])
  const plain = await failureOf(fetch(a.origin, { redirect: 'error' }))
  const error = await failureOf(paced(a.origin, { redirect: 'error' }))
  expect([error.name, error.message]).toEqual([plain.name, plain.message])
  expect(departures).toEqual([a.origin, a.origin])
  expect(statuses).toEqual([302, undefined])
  expect(pacer.stats().total.inFlight).toBe(0)
})

test('the key of the caller is for the first origin, the reservation for the first hop', async () => {
  const b = await serve((request, response, nth) => redirectTo(`${a.origin}/home`)(request, response, nth))
  const a: Awaited<ReturnType<typeof serve>> = await serve((request, response, nth) =>
    request.url === '/home' ? void response.end() : redirectTo(`${b.origin}/x`)(request, response, nth),
  )
  const { pacer, departures } = setUp(fast)
  const reservation = await pacer.reserve(a.origin, { key: 'mine' })
  await pace(fetch, pacer)(a.origin, { hostpace: { key: 'mine', reservation } })
  expect(departures).toEqual(['mine', b.origin, 'mine'])
})

describe('where the runtime hides redirects', () => {
  /** As browsers have it. */
  function hiding(): { fetch: typeof fetch; modes: unknown[] } {
    const modes: unknown[] = []
    async function hidden(input: string | URL | Request, init?: RequestInit): Promise<Response> {
      modes.push(init?.redirect)
      const response = await fetch(input, init)
      if (init?.redirect !== 'manual' || response.status !== 302) return response
      await response.body?.cancel()
      return Object.defineProperties(Response.error(), { type: { value: 'opaqueredirect' } })
    }
    return { fetch: hidden, modes }
  }

  test('they are followed by the runtime, and only the first hop is paced', async () => {
    const b = await serve((_request, response) => void response.writeHead(429).end('there'))
    const a = await serve(redirectTo(`${b.origin}/x`))
    const { pacer, departures } = setUp(fast)
    const seen: unknown[] = []
    pacer.on('observe', ({ key, status }) => void seen.push([key, status]))
    const { fetch, modes } = hiding()
    const paced = pace(fetch, pacer)
    const response = await paced(a.origin)
    expect([await response.text(), response.redirected]).toEqual(['there', true])
    await (await paced(a.origin)).text()
    expect(modes).toEqual(['manual', 'follow', 'follow'])
    expect(departures).toEqual([a.origin, a.origin, a.origin])
    // What the other host says is taken for its own.
    expect(seen).toEqual([
      [b.origin, 429],
      [b.origin, 429],
    ])
    expect(pacer.stats().total.inFlight).toBe(0)
  })

  test('nothing that changes something is sent twice', async () => {
    const a = await serve(redirectTo('/x'))
    const { pacer } = setUp(fast)
    const { fetch } = hiding()
    expect(await failureOf(pace(fetch, pacer)(a.origin, { method: 'POST', body: 'once' }))).toBeInstanceOf(TypeError)
    expect(a.hits).toHaveLength(1)
    expect(pacer.stats().total.inFlight).toBe(0)
  })
})
