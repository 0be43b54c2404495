import { getEventListeners, once } from 'node:events'
import { createServer } from 'node:net'
import { Readable } from 'node:stream'
import got, { AbortError, type CancelableRequest, TimeoutError, UploadError } from 'got'
import { describe, expect, test } from 'vitest'
import { arrivals, hits, later, listen, pacedGot, type Site, serve } from './paced-got.ts'

/** Only got 14 has `promise.cancel()`. */
const canCancel = 'CancelError' in (await import('got'))

/** Retries at once, as often as it likes. */
const retry = { limit: 2, calculateDelay: ({ computedValue }: { computedValue: number }) => computedValue && 1 }

/** A server that moves `/r` to `/ok` and is busy at `/busy`. */
function hopping(): Promise<Site> {
  return serve((request, response) => {
    if (request.url === '/r') response.writeHead(302, { location: '/ok' }).end()
    else response.writeHead(request.url === '/busy' ? 503 : 200).end('ok')
  })
}

/** What waits: the first hop (behind a request for `/`), a redirect, a retry. */
const waits = [
  ['the first hop', '/'],
  ['a redirect', '/r'],
  ['a retry', '/busy'],
] as const

describe.each(waits)('while %s waits', (_name, path) => {
  async function waitingFor(cache?: Map<string, unknown>) {
    const site = await hopping()
    const paced = pacedGot({ intervalMs: 1000 }, { retry, ...(cache && { cache: cache as never }) })
    if (path === '/') await paced.client(site.origin)
    return { site, url: `${site.origin}${path === '/' ? '/late' : path}`, ...paced }
  }

  /** Nothing of it may be left: the next one waits for the one that was sent, and nobody else ever comes. */
  async function nothingIsLeft({ site, client, clock, waiting, inFlight }: Awaited<ReturnType<typeof waitingFor>>) {
    await waiting(0)
    await inFlight(0)
    const sent = [...site.paths]
    const next = client(`${site.origin}/next`)
    await waiting(1)
    await clock.advanceAsync(1000)
    await next
    await clock.advanceAsync(10_000)
    await arrivals()
    expect(site.paths).toEqual([...sent, '/next'])
  }

  test.skipIf(!canCancel).each(['promise', 'promise.json()'])('%s.cancel(): got’s CancelError', async (form) => {
    const paced = await waitingFor()
    const sending = paced.client(paced.url) as CancelableRequest
    const promise = form === 'promise' ? sending : (sending.json() as CancelableRequest)
    const errors = Promise.all([later(sending), later(promise)])
    await paced.waiting(1)
    promise.cancel()
    for (const error of await errors) {
      expect(error).toMatchObject({ name: 'CancelError', code: 'ERR_CANCELED' })
    }
    await nothingIsLeft(paced)
  })

  test('stream.destroy(): closed', async () => {
    const paced = await waitingFor()
    let stream = paced.client.stream(paced.url)
    stream.on('retry', (_count: number, _error: unknown, create: () => typeof stream) => {
      stream = create()
      stream.on('error', () => {})
    })
    await paced.waiting(1)
    const closed = once(stream, 'close')
    stream.destroy()
    await closed
    await nothingIsLeft(paced)
  })

  test.each([['without'], ['with']])('an abort, %s a cache: got’s AbortError', async (form) => {
    const paced = await waitingFor(form === 'with' ? new Map() : undefined)
    const controller = new AbortController()
    const error = later(paced.client(paced.url, { signal: controller.signal }))
    await paced.waiting(1)
    controller.abort(new Error('mine'))
    expect(await error).toBeInstanceOf(AbortError)
    expect(await error).toHaveProperty('code', 'ERR_ABORTED')
    await nothingIsLeft(paced)
  })

  test('an abort in the very turn in which it is let go', async () => {
    const paced = await waitingFor()
    const controller = new AbortController()
    const error = later(paced.client(paced.url, { signal: controller.signal }))
    await paced.waiting(1)
    const hitsBefore = paced.site.paths.length
    paced.clock.advance(1000)
    controller.abort()
    expect(await error).toBeInstanceOf(AbortError)
    await arrivals()
    expect(paced.site.paths).toHaveLength(hitsBefore)
    await paced.inFlight(0)
    expect(paced.outcomes.filter((outcome) => outcome instanceof Error)).toEqual([])
  })
})

test.each(['a stream', 'a promise'])('%s that is given up while a hook of the user runs', async (form) => {
  const site = await serve()
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const { client, pacer } = pacedGot({ rate: 10 }, { hooks: { beforeRequest: [() => finished] } })
  const controller = new AbortController()
  const stream = form === 'a stream' ? client.stream(site.origin) : undefined
  const given = stream ? once(stream, 'close') : later(client(site.origin, { signal: controller.signal }))
  await arrivals()
  if (stream) stream.destroy()
  else controller.abort()
  await given
  finish()
  await arrivals()
  expect(site.paths).toEqual([])
  expect(pacer.stats().total).toMatchObject({ departures: 0, inFlight: 0, queued: 0 })
})

test('promises have a cancel() where got gives them one', async () => {
  const site = await serve()
  const { client } = pacedGot({ rate: 10 })
  const [paced, plain] = [client(site.origin), got(site.origin)]
  expect(typeof paced.cancel).toBe(typeof plain.cancel)
  await Promise.all([paced, plain])
})

test('B06: AbortSignal.timeout counts the wait and gives got’s TimeoutError', async () => {
  const site = await serve()
  const { client, waiting } = pacedGot({ intervalMs: 60_000 })
  await client(site.origin)
  expect(await later(client(site.origin, { signal: AbortSignal.timeout(20) }))).toBeInstanceOf(TimeoutError)
  await waiting(0)
  expect(site.paths).toHaveLength(1)
})

describe('a body that fails while its request waits', () => {
  test('is got’s UploadError, and nothing is sent', async () => {
    const site = await serve()
    const { client, waiting } = pacedGot({ intervalMs: 1000 })
    await client(site.origin)
    const body = new Readable({ read() {} })
    const failed = later(client.post(site.origin, { body, retry: { limit: 0 } }))
    await waiting(1)
    body.destroy(new Error('disk'))
    expect(await failed).toBeInstanceOf(UploadError)
    await waiting(0)
    expect(site.paths).toHaveLength(1)
    expect(body.listenerCount('error')).toBeLessThan(2)
  })

  test('does not end the attempt that has another', async () => {
    const site = await serve()
    // got 14 goes by the code of the body's error, those after it have one for uploads.
    const errorCodes = ['ECONNRESET', 'ERR_UPLOAD']
    const { client, clock, waiting } = pacedGot({ intervalMs: 1000 }, { retry: { ...retry, errorCodes } })
    await client(site.origin)
    const body = new Readable({ read() {} })
    const beforeRetry = (error: Error & { options?: unknown }) => {
      const options = error.options as { body: unknown }
      options.body = Readable.from(['again'], { objectMode: false })
    }
    const sent = client.put(site.origin, { body, hooks: { beforeRetry: [beforeRetry] } })
    await waiting(1)
    body.destroy(Object.assign(new Error('gone'), { code: 'ECONNRESET' }))
    await waiting(0)
    await waiting(1)
    await clock.advanceAsync(1000)
    expect(await sent.text()).toBe('ok')
  })
})

describe('what is given up under way frees its permit', () => {
  test('a stream whose body is on its way', async () => {
    const site = await serve((_request, response) => response.end('x'.repeat(1_000_000)))
    const { client, pacer } = pacedGot({ concurrency: 1 })
    const stream = client.stream(site.origin)
    await once(stream, 'response')
    expect(pacer.stats().total.inFlight).toBe(1)
    stream.destroy()
    await once(stream, 'close')
    expect(pacer.stats().total.inFlight).toBe(0)
  })

  test('a stream whose body has come and is unread: no event of Node says that it is over', async () => {
    const site = await serve()
    const { client, pacer } = pacedGot({ concurrency: 1 })
    const stream = client.stream(site.origin)
    await once(stream, 'response')
    await arrivals()
    expect(pacer.stats().total.inFlight).toBe(1)
    stream.destroy()
    await once(stream, 'close')
    expect(pacer.stats().total.inFlight).toBe(0)
  })

  test('a promise that is aborted before got reads the body', async () => {
    const { client, inFlight } = pacedGot({ concurrency: 1 })
    const controller = new AbortController()
    const cookieJar = {
      getCookieString: async () => '',
      setCookie: () => new Promise(() => {}),
    }
    const site = await serve((_request, response) => response.setHeader('set-cookie', 'a=b').end('ok'))
    const error = later(client(site.origin, { cookieJar: cookieJar as never, signal: controller.signal }))
    await hits(site, 1)
    await arrivals()
    controller.abort()
    expect(await error).toBeInstanceOf(AbortError)
    await inFlight(0)
  })

  test('what never was written gives its place back as well', async () => {
    // Takes connections and never shakes hands.
    const port = await listen(createServer(() => {}))
    const { client, pacer, inFlight, clock } = pacedGot({ intervalMs: 1000 })
    const controller = new AbortController()
    const url = `https://127.0.0.1:${port}`
    const error = later(client(url, { signal: controller.signal }))
    await inFlight(1)
    await clock.advanceAsync(500)
    controller.abort()
    expect(await error).toBeInstanceOf(AbortError)
    await inFlight(0)
    expect((await pacer.peek(url)).waitMs).toBe(0)
  })
})

test('a request that is over leaves no listener behind', async () => {
  const site = await serve()
  const { client, inFlight } = pacedGot({ rate: 1000 })
  const listeners = async (by: typeof got) => {
    const { signal } = new AbortController()
    const body = Readable.from(['x'], { objectMode: false })
    await by.post(site.origin, { signal, body })
    await inFlight(0)
    return [getEventListeners(signal, 'abort').length, body.listenerCount('error')]
  }
  expect(await listeners(client)).toEqual(await listeners(got))
})
