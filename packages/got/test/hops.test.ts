import { Readable } from 'node:stream'
import { MaxRedirectsError } from 'got'
import { describe, expect, test } from 'vitest'
import { hits, later, pacedGot, serve } from './paced-got.ts'

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

  test('a response that a request function makes up gives its slot back', async () => {
    const { pacer, client, inFlight } = pacedGot({ intervalMs: 1000, concurrency: 1 })
    const request = () => Object.assign(Readable.from(['made up']), { statusCode: 200, headers: {} })
    const url = 'http://nowhere.example/'
    expect(await client(url, { request: request as never }).text()).toBe('made up')
    await inFlight(0)
    expect((await pacer.peek(url)).waitMs).toBe(0)
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

  test('what a hook sends again with other options waits like any other', async () => {
    const [a, b] = [await serve(), await serve((_request, response) => response.end('at b'))]
    let isFirst = true
    const { client, run, departures } = pacedGot(
      { intervalMs: 1000 },
      {
        hooks: {
          afterResponse: [
            (response, retryWithMergedOptions) => {
              if (!isFirst) return response
              isFirst = false
              return retryWithMergedOptions({ headers: { token: 'fresh' } })
            },
          ],
        },
      },
    )
    const sent = client(a.origin).text()
    await run(999)
    expect(a.paths).toHaveLength(1)
    await run(1)
    expect(await sent).toBe('ok')
    expect(departures(a.origin)).toBe(2)

    const moved = client.extend({
      hooks: {
        afterResponse: [(response, again) => (response.url === `${b.origin}/` ? response : again({ url: b.origin }))],
      },
    })
    const atB = moved(a.origin, { retry: { limit: 2 } })
    await run(1000)
    expect((await atB).body).toBe('at b')
    expect(departures(b.origin)).toBe(1)
  })
})

describe('redirects', () => {
  test('B01: each host is charged for its own hop', async () => {
    const b = await serve()
    const a = await serve((_request, response) => response.writeHead(302, { location: b.origin }).end('moved'))
    const { client, outcomes, run, waiting } = pacedGot({
      hosts: { [a.origin]: { intervalMs: 1000 }, [b.origin]: { intervalMs: 10_000 } },
    })
    const both = [client(a.origin), client(a.origin)]
    await hits(b, 1)
    await waiting(1)
    await run(999)
    expect([a.paths.length, b.paths.length]).toEqual([1, 1])
    await run(1)
    await hits(a, 2)
    await waiting(1)
    await run(8999)
    expect([a.paths.length, b.paths.length]).toEqual([2, 1])
    await run(1)
    await Promise.all(both)
    expect([a.paths.length, b.paths.length]).toEqual([2, 2])
    expect(outcomes).toEqual([302, 200, 302, 200])
  })

  test('a hop whose body never ends is over when the next begins', async () => {
    const site = await serve((request, response) => {
      if (request.url === '/ok') response.end('ok')
      else response.writeHead(302, { location: '/ok' }).write('on and on')
    })
    const { client, inFlight } = pacedGot({ rate: 10, concurrency: 1 })
    expect(await client(`${site.origin}/r`).text()).toBe('ok')
    await inFlight(0)
  })

  test('a 307 sends the body again', async () => {
    const bodies: string[] = []
    const b = await serve(async (request, response) => {
      for await (const chunk of request.setEncoding('utf8')) bodies.push(chunk)
      response.end()
    })
    const a = await serve((_request, response) => response.writeHead(307, { location: b.origin }).end())
    const { client, departures } = pacedGot({ intervalMs: 1000 })
    await client.post(a.origin, { body: 'x'.repeat(100) })
    expect(bodies.join('')).toBe('x'.repeat(100))
    expect([departures(a.origin), departures(b.origin)]).toEqual([1, 1])
  })

  test('too many of them are got’s own error, and cost what has left', async () => {
    const site = await serve((_request, response) => response.writeHead(302, { location: '/' }).end())
    const { client, departures, inFlight } = pacedGot(
      { rate: 10, concurrency: 1 },
      { maxRedirects: 3, retry: { limit: 0 } },
    )
    expect(await later(client(site.origin))).toBeInstanceOf(MaxRedirectsError)
    await hits(site, 4)
    await inFlight(0)
    expect(departures(site.origin)).toBe(4)
  })
})
