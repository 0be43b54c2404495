import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { pace } from '@hostpace/fetch'
import { expect, test } from 'vitest'
import { failureOf, fast, realTime, serve, setUp } from './support.ts'

/** Answers with a body that does not end. */
const endless = () => serve((_request, response) => void response.write('first'))

test('the response is the one that fetch gave', async () => {
  const a = await serve((_request, response) => void response.writeHead(201, 'Made', { 'x-own': 'yes' }).end('{"n":1}'))
  const { pacer } = setUp(fast)
  const given: Response[] = []
  const response = await pace(async (...args: Parameters<typeof fetch>) => {
    given.push(await fetch(...args))
    return given[0] as Response
  }, pacer)(`${a.origin}/p#x`)
  expect(response).toBe(given[0])
  expect(response).toBeInstanceOf(Response)
  const { url, redirected, type, status, statusText, ok } = response
  expect({ url, redirected, type, status, statusText, ok }).toEqual({
    url: `${a.origin}/p`,
    ...{ redirected: false, type: 'basic', status: 201, statusText: 'Made', ok: true },
  })
  expect(response.headers.get('x-own')).toBe('yes')
  expect(pacer.stats().total.inFlight).toBe(1)
  expect(await response.json()).toEqual({ n: 1 })
  expect(response.bodyUsed).toBe(true)
  expect(pacer.stats().total.inFlight).toBe(0)
  expect(await failureOf(response.text())).toBeInstanceOf(TypeError)
})

test.each(['arrayBuffer', 'blob', 'text'] as const)('%s() frees the permit when it has read it all', async (name) => {
  const a = await serve()
  const { pacer } = setUp(fast)
  const response = await pace(fetch, pacer)(a.origin)
  const body = await response[name]()
  expect(await new Response(body).text()).toBe('ok')
  expect(pacer.stats().total.inFlight).toBe(0)
})

test('a body that is read by its stream frees the permit at its end', async () => {
  const a = await serve()
  const { pacer } = setUp(fast)
  const { body } = await pace(fetch, pacer)(a.origin)
  const reader = body?.getReader()
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('ok')
  expect((await reader?.read())?.done).toBe(true)
  expect(pacer.stats().total.inFlight).toBe(0)
})

test('a reader may bring its own buffer', async () => {
  const a = await serve()
  const { pacer } = setUp(fast)
  const { body } = await pace(fetch, pacer)(a.origin)
  const reader = body?.getReader({ mode: 'byob' })
  expect((await reader?.read(new Uint8Array(1)))?.value).toEqual(new TextEncoder().encode('o'))
  expect((await reader?.read(new Uint8Array(9)))?.value).toEqual(new TextEncoder().encode('k'))
  expect((await reader?.read(new Uint8Array(9)))?.done).toBe(true)
  expect(pacer.stats().total.inFlight).toBe(0)
})

test('the stream is one, and a locked one cannot be read otherwise', async () => {
  const a = await serve()
  const { pacer } = setUp(fast)
  const response = await pace(fetch, pacer)(a.origin)
  expect(response.body).toBe(response.body)
  const reader = response.body?.getReader()
  expect(await failureOf(response.text())).toBeInstanceOf(TypeError)
  expect(() => response.clone()).toThrow(TypeError)
  expect(pacer.stats().total.inFlight).toBe(1)
  reader?.releaseLock()
  expect(await response.text()).toBe('ok')
})

test('the body comes no faster than it is read', async () => {
  let pulled = 0
  const source = new ReadableStream(
    { pull: (controller) => void controller.enqueue(new Uint8Array([pulled++])) },
    { highWaterMark: 0 },
  )
  const { pacer } = setUp(fast)
  const { body } = await pace(async (_url: string) => new Response(source), pacer)('http://a.example/')
  await realTime(5)
  expect(pulled).toBe(0)
  const reader = body?.getReader()
  await reader?.read()
  await reader?.read()
  await realTime(5)
  expect(pulled).toBe(2)
  await reader?.cancel()
})

test('clones share the permit until one has read all', async () => {
  const a = await serve()
  const { pacer } = setUp(fast)
  const response = await pace(fetch, pacer)(a.origin)
  const copy = response.clone()
  expect([copy.url, copy.status]).toEqual([response.url, 200])
  expect(pacer.stats().total.inFlight).toBe(1)
  expect(await copy.text()).toBe('ok')
  expect(pacer.stats().total.inFlight).toBe(0)
  expect(await new Response(response.body).text()).toBe('ok')
})

test('clones are discarded when all of them are', async () => {
  const a = await endless()
  const { pacer } = setUp(fast)
  const response = await pace(fetch, pacer)(a.origin)
  const copy = response.clone()
  const cancelling = response.body?.cancel()
  expect(pacer.stats().total.inFlight).toBe(1)
  await copy.body?.cancel()
  await cancelling
  expect(pacer.stats().total.inFlight).toBe(0)
})

test('a body that is cancelled frees the permit', async () => {
  const a = await endless()
  const { pacer } = setUp(fast)
  const response = await pace(fetch, pacer)(a.origin)
  await response.body?.cancel()
  expect(pacer.stats().total.inFlight).toBe(0)
})

test.each(['read', 'unread'])('an abort while the body comes frees the permit: %s', async (how) => {
  const a = await endless()
  const { pacer } = setUp(fast)
  const abort = new AbortController()
  const response = await pace(fetch, pacer)(a.origin, { signal: abort.signal })
  const reading = how === 'read' ? failureOf(response.text()) : undefined
  const reason = new Error('enough')
  abort.abort(reason)
  if (reading !== undefined) expect(await reading).toBe(reason)
  expect(pacer.stats().total.inFlight).toBe(0)
})

test.each([
  ['HEAD', 200],
  ['GET', 204],
  ['GET', 304],
])('a %s that is answered with %i needs no reading', async (method, status) => {
  const a = await serve((_request, response) => void response.writeHead(status).end())
  const { pacer, statuses } = setUp(fast)
  const response = await pace(fetch, pacer)(a.origin, { method })
  expect(response.body).toBe(null)
  expect(pacer.stats().total.inFlight).toBe(0)
  expect(statuses).toEqual([status])
})

test('a body of no bytes needs no reading', async () => {
  const a = await serve((_request, response) => void response.writeHead(200, { 'content-length': '0' }).end())
  const { pacer } = setUp(fast)
  const response = await pace(fetch, pacer)(a.origin)
  expect(pacer.stats().total.inFlight).toBe(0)
  expect(await response.text()).toBe('')
})

test('a response that is garbage frees the permit, one whose stream is kept does not', async () => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const a = await endless()
  const { pacer } = setUp(fast)
  const paced = pace(fetch, pacer)
  const { body } = await paced(a.origin)
  await paced(a.origin)
  expect(pacer.stats().total.inFlight).toBe(2)
  for (let n = 0; n < 50 && pacer.stats().total.inFlight === 2; n++) {
    collect()
    await realTime(10)
  }
  expect(pacer.stats().total.inFlight).toBe(1)
  for (let n = 0; n < 5; n++) {
    collect()
    await realTime(10)
  }
  const reader = body?.getReader()
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('first')
  expect(pacer.stats().total.inFlight).toBe(1)
  await reader?.cancel()
})
