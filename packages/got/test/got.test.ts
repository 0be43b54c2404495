import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { createPacer } from '@hostpace/core'
import { pace } from '@hostpace/got'
import got, { AbortError, CancelError, HTTPError, RequestError, TimeoutError, UploadError } from 'got'
import { describe, expect, onTestFinished, test } from 'vitest'
import { arrivals, pacedGot, serve } from './paced-got.ts'

/** A promise that is looked at later and must not count as unhandled meanwhile. */
function later<T>(promise: Promise<T>): Promise<T | Error> {
  return promise.catch((error: Error) => error)
}

describe('what got answers by itself', () => {
  test('B07: cache hits are free and a revalidation costs one', async () => {
    let isFresh = true
    const site = await serve((request, response) => {
      response.setHeader('etag', '"1"')
      response.setHeader('cache-control', isFresh ? 'max-age=60' : 'max-age=0')
      if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end()
      else response.end('page')
    })
    const answers: unknown[] = []
    const { pacer, client, departures, run } = pacedGot({ intervalMs: 30_000 }, { cache: new Map() })
    pacer.on('observe', ({ status }) => answers.push(status))
    for (let call = 0; call < 10; call++) {
      const response = await client(site.origin)
      expect([response.body, response.isFromCache]).toEqual(['page', call > 0])
    }
    expect(departures(site.origin)).toBe(1)

    isFresh = false
    const other = client(`${site.origin}/other`)
    await run(30_000)
    await other
    const revalidated = client(`${site.origin}/other`)
    await run(30_000)
    expect((await revalidated).body).toBe('page')
    expect(departures(site.origin)).toBe(3)
    expect(answers).toEqual([200, 200, 304])
    expect(pacer.stats().total.inFlight).toBe(0)
  })

  test('a response that a hook makes up takes no slot', async () => {
    const { pacer, client } = pacedGot({ intervalMs: 1000 })
    const made = client.extend({
      hooks: {
        beforeRequest: [() => Object.assign(Readable.from(['made up']), { statusCode: 200, headers: {} }) as never],
      },
    })
    expect(await made('http://nowhere.example/').text()).toBe('made up')
    expect(pacer.stats().total.departures).toBe(0)
  })

  test('a unix socket takes no slot, unless it is given a key', async () => {
    const path = join(tmpdir(), `hostpace-got-${process.pid}.sock`)
    const server = createServer((_request, response) => response.end('by socket')).listen(path)
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { pacer, client, departures } = pacedGot({ intervalMs: 1000 }, { enableUnixSockets: true })
    expect(await client(`unix:${path}:/x`).text()).toBe('by socket')
    expect(pacer.stats().total.departures).toBe(0)
    await client(`unix:${path}:/x`, { context: { hostpace: { key: 'local' } } })
    expect(departures('local')).toBe(1)
  })
})

describe('pages', () => {
  test.each(['same options', 'next URL'])('E10: each page of a pagination waits (%s)', async (style) => {
    const site = await serve((_request, response) => response.end(JSON.stringify([site.paths.length])))
    const { client, run } = pacedGot({ intervalMs: 4000 })
    const pages = client.paginate.all<number>(`${site.origin}/?page=1`, {
      responseType: 'json',
      pagination: {
        transform: (response) => response.body as number[],
        paginate({ response }) {
          const page = site.paths.length
          if (page === 5) return false
          if (style === 'next URL') return { url: new URL(`${site.origin}/?page=${page + 1}`) }
          return { ...response.request.options, searchParams: { page: page + 1 } } as never
        },
      },
    })
    for (const expected of [1, 2, 3, 4, 5]) {
      await run(expected === 1 ? 0 : 3999)
      if (expected > 1) expect(site.paths).toHaveLength(expected - 1)
      await run(expected === 1 ? 0 : 1)
      expect(site.paths).toHaveLength(expected)
    }
    expect(await pages).toEqual([1, 2, 3, 4, 5])
  })
})

describe('retries', () => {
  test('B11: a limit answer to a retry holds the host as well', async () => {
    const waits = ['1', '3']
    const site = await serve((_request, response) => {
      const after = waits.shift()
      if (after === undefined) response.end('ok')
      else response.writeHead(429, { 'retry-after': after }).end()
    })
    const holds: number[] = []
    const { pacer, client, run } = pacedGot(
      { rate: 1000 },
      { retry: { limit: 2, calculateDelay: ({ computedValue }) => computedValue && 1 } },
    )
    pacer.on('pause', ({ waitMs }) => holds.push(waitMs))
    const sending = client(site.origin).text()
    await run(999)
    expect(site.paths).toHaveLength(1)
    await run(1)
    expect(site.paths).toHaveLength(2)
    await run(2999)
    expect(site.paths).toHaveLength(2)
    await run(1)
    expect(await sending).toBe('ok')
    expect(holds).toEqual([1000, 3000])
  })

  test('every attempt of a stream waits, and the end of one does not end the wait of the next', async () => {
    const site = await serve((_request, response) => {
      if (site.paths.length < 3) response.writeHead(503).end('busy')
      else response.end('at last')
    })
    const { pacer, client, run } = pacedGot(
      { intervalMs: 1000 },
      { retry: { limit: 2, calculateDelay: ({ computedValue }) => computedValue && 1 } },
    )
    const body = new Promise<string>((resolve, reject) => {
      const follow = (stream: ReturnType<typeof client.stream>) => {
        let text = ''
        stream.on('data', (chunk) => {
          text += String(chunk)
        })
        stream.once('end', () => resolve(text))
        stream.once('retry', (_count: number, _error: unknown, create: () => typeof stream) => follow(create()))
        stream.on('error', reject)
      }
      follow(client.stream(site.origin))
    })
    for (const expected of [1, 2, 3]) {
      await run(expected === 1 ? 0 : 1000)
      expect(site.paths).toHaveLength(expected)
    }
    expect(await body).toBe('at last')
    expect(pacer.stats().total).toMatchObject({ departures: 3, inFlight: 0, queued: 0 })
  })
})

describe('giving up', () => {
  test('promise.cancel() while it waits: got’s CancelError, nothing sent, the place is free', async () => {
    const site = await serve()
    const { pacer, client, run } = pacedGot({ intervalMs: 1000 })
    await client(site.origin)
    const canceled = client(site.origin)
    const error = later(canceled)
    await arrivals()
    canceled.cancel()
    expect(await error).toBeInstanceOf(CancelError)
    expect(pacer.stats().total.queued).toBe(0)
    const next = client(site.origin)
    await run(1000)
    await next
    expect(site.paths).toHaveLength(2)
  })

  test('stream.destroy() while it waits: closed, nothing sent, the place is free', async () => {
    const site = await serve()
    const { pacer, client } = pacedGot({ intervalMs: 1000 })
    await client(site.origin)
    const stream = client.stream(site.origin)
    const closed = once(stream, 'close')
    await arrivals()
    expect(pacer.stats().total.queued).toBe(1)
    stream.destroy()
    await closed
    expect(pacer.stats().total).toMatchObject({ queued: 0, inFlight: 0 })
    expect(site.paths).toHaveLength(1)
  })

  test('a stream that is destroyed with its body unread frees its permit', async () => {
    const site = await serve((_request, response) => response.end('x'.repeat(1_000_000)))
    const { pacer, client } = pacedGot({ concurrency: 1 })
    const stream = client.stream(site.origin)
    await once(stream, 'response')
    expect(pacer.stats().total.inFlight).toBe(1)
    stream.destroy()
    await once(stream, 'close')
    expect(pacer.stats().total.inFlight).toBe(0)
  })

  test('B06: got’s own errors for an abort and for AbortSignal.timeout', async () => {
    const site = await serve()
    const { pacer, client } = pacedGot({ intervalMs: 60_000 })
    await client(site.origin)
    const controller = new AbortController()
    const aborted = later(client(site.origin, { signal: controller.signal }))
    await arrivals()
    controller.abort(new Error('mine'))
    expect(await aborted).toBeInstanceOf(AbortError)
    expect(await later(client(site.origin, { signal: AbortSignal.timeout(20) }))).toBeInstanceOf(TimeoutError)
    expect(pacer.stats().total.queued).toBe(0)
    expect(site.paths).toHaveLength(1)
  })

  test('a body that fails while its request waits', async () => {
    const site = await serve()
    const { pacer, client } = pacedGot({ intervalMs: 1000 })
    await client(site.origin)
    const body = new Readable({ read() {} })
    const failed = later(client.post(site.origin, { body, retry: { limit: 0 } }))
    await arrivals()
    body.destroy(new Error('disk'))
    const error = await failed
    expect(error).toBeInstanceOf(UploadError)
    await arrivals()
    expect(pacer.stats().total.queued).toBe(0)
    expect(site.paths).toHaveLength(1)
  })
})

describe('errors', () => {
  test('HTTP errors stay got’s and are observed', async () => {
    const site = await serve((_request, response) => response.writeHead(404).end('no'))
    const { pacer, client } = pacedGot({ rate: 10 })
    const answers: unknown[] = []
    pacer.on('observe', ({ status }) => answers.push(status))
    expect(await later(client(site.origin))).toBeInstanceOf(HTTPError)
    expect(answers).toEqual([404])
    expect(pacer.stats().total.inFlight).toBe(0)
  })

  test('ours are the cause of a RequestError with the same code, and are not retried', async () => {
    const site = await serve()
    const { client } = pacedGot({ intervalMs: 60_000, maxWaitMs: 1000 })
    await client(site.origin)
    const error = (await later(client(site.origin))) as RequestError
    expect(error).toBeInstanceOf(RequestError)
    expect([error.code, (error.cause as { code?: string }).code]).toEqual(Array(2).fill('ERR_HOSTPACE_WAIT_TOO_LONG'))
    expect(error.request?.retryCount).toBe(0)
    expect(site.paths).toHaveLength(1)
  })

  test('a failure that nobody awaits still ends the process', () => {
    const program = `
      import { createPacer } from '@hostpace/core'
      import { pace } from '@hostpace/got'
      import got from 'got'
      void got.extend(pace(createPacer({ rate: 10 })))('http://127.0.0.1:9/', { retry: { limit: 0 } })`
    const cwd = fileURLToPath(new URL('..', import.meta.url))
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd,
      encoding: 'utf8',
    })
    expect(stderr).toContain('ECONNREFUSED')
    expect(status).toBe(1)
  })
})

describe('what the user brings', () => {
  test('his own request function is called, and one that answers nothing leaves it to got', async () => {
    const site = await serve()
    let calls = 0
    const request = () => {
      calls++
      return undefined
    }
    for (const cache of [false, new Map()]) {
      const { client, departures } = pacedGot({ rate: 10 }, { request, cache } as never)
      expect(await client(site.origin).text()).toBe('ok')
      expect(departures(site.origin)).toBe(1)
    }
    expect(calls).toBe(2)
  })

  test('29: a hook that comes later and moves the request moves the charge', async () => {
    const [a, b] = [await serve(), await serve()]
    const { client, departures } = pacedGot({ rate: 10 })
    const moving = client.extend({
      hooks: {
        beforeRequest: [
          (options) => {
            options.url = new URL(b.origin)
          },
        ],
      },
    })
    await moving(a.origin)
    expect([departures(a.origin), departures(b.origin)]).toEqual([0, 1])
  })

  test('a key counts for the host it was given for, not for the one a redirect leads to', async () => {
    const b = await serve()
    const a = await serve((_request, response) => response.writeHead(302, { location: b.origin }).end())
    const { client, departures } = pacedGot({ rate: 10 })
    await client(a.origin, { context: { hostpace: { key: 'mine' } } })
    expect([departures('mine'), departures(a.origin), departures(b.origin)]).toEqual([1, 0, 1])
  })

  test('two pacers charge once each, per hop', async () => {
    const site = await serve((request, response) => {
      if (request.url === '/ok') response.end('ok')
      else response.writeHead(302, { location: '/ok' }).end()
    })
    const other = createPacer({ rate: 10 })
    const { client, departures } = pacedGot({ rate: 10 })
    const twice = client.extend(pace(other))
    await twice(`${site.origin}/r`)
    await twice(`${site.origin}/ok`)
    expect(departures(site.origin)).toBe(3)
    expect(other.stats().total.departures).toBe(3)
    await other.close()
  })

  test('the instance that was extended is left alone', async () => {
    const before = structuredClone(got.defaults.options.hooks.beforeRequest.length)
    const { client } = pacedGot({ rate: 10 })
    await client((await serve()).origin)
    expect(got.defaults.options.hooks.beforeRequest).toHaveLength(before)
    expect(client.defaults.options.hooks.beforeRequest).toHaveLength(before)
  })
})
