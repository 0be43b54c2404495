import { createPacer, QueueFullError } from '@hostpace/core'
import { pace } from '@hostpace/fetch'
import { Agent } from 'undici'
import { describe, expect, test } from 'vitest'
import { failureOf, fast, serve, setUp, streamOf, waiting } from './support.ts'

describe('what is free', () => {
  test.each(['data:text/plain,hello', 'about:blank', 'blob:nodedata:none'])('%s', async (url) => {
    const { pacer, departures } = setUp()
    const ending = (fetched: Promise<Response>) => fetched.then((response) => response.text()).catch(String)
    expect(await ending(pace(fetch, pacer)(url))).toBe(await ending(fetch(url)))
    expect(departures).toEqual([])
  })

  test('what says skip', async () => {
    const a = await serve()
    const { pacer, departures } = setUp()
    await pace(fetch, pacer)(a.origin, { hostpace: { skip: true } })
    await pace(fetch, pacer)(a.origin, { hostpace: { skip: true } })
    expect(departures).toEqual([])
  })

  test.each(['/relative', 'http://', ''])('no URL: %j', async (url) => {
    const { pacer, departures } = setUp()
    const plain = await failureOf(fetch(url))
    const error = await failureOf(pace(fetch, pacer)(url))
    expect([error.name, error.message]).toEqual([plain.name, plain.message])
    expect(departures).toEqual([])
  })

  test('a Request whose body was used', async () => {
    const a = await serve()
    const { pacer, departures } = setUp(fast)
    const paced = pace(fetch, pacer)
    const request = new Request(a.origin, { method: 'POST', body: 'once' })
    await paced(request)
    const plain = await failureOf(fetch(request))
    const error = await failureOf(paced(request))
    expect([error.name, error.message]).toEqual([plain.name, plain.message])
    expect(departures).toHaveLength(1)
    await paced(request, { body: 'another' })
    expect(a.hits.map(({ body }) => body)).toEqual(['once', 'another'])
  })
})

test.each([
  ['a URL', (url: string) => new URL(url)],
  ['a Request', (url: string) => new Request(url)],
])('%s is paced as a string is', async (_name, inputOf) => {
  const a = await serve()
  const { pacer, departures } = setUp(fast)
  await pace(fetch, pacer)(inputOf(`${a.origin}/x`))
  expect(departures).toEqual([a.origin])
  expect(a.hits[0]?.path).toBe('/x')
})

test('all else in init is passed on, and hostpace is not', async () => {
  const inits: (RequestInit | undefined)[] = []
  const stub = async (_url: string, init?: RequestInit) => {
    inits.push(init)
    return new Response(null)
  }
  const { stream } = streamOf('x')
  const init = { keepalive: true, duplex: 'half', dispatcher: new Agent(), body: stream, method: 'POST', own: 1 }
  await pace(stub, setUp(fast).pacer)('http://a.example/', { ...init, hostpace: { cost: 1 } } as object)
  expect(inits).toEqual([{ ...init, redirect: 'manual' }])
  expect(inits[0]?.body).toBe(stream)
})

test('init.dispatcher also sends the hops of a redirect', async () => {
  const a = await serve((request, response) =>
    request.url === '/x' ? void response.end('there') : void response.writeHead(302, { location: '/x' }).end(),
  )
  const agent = new Agent()
  let dispatched = 0
  const dispatcher = agent.compose((dispatch) => (options, handler) => {
    dispatched++
    return dispatch(options, handler)
  })
  await pace(fetch, setUp(fast).pacer)(a.origin, { dispatcher } as object)
  expect(dispatched).toBe(2)
  await agent.destroy()
})

test('what fetch has on it is on the paced one', () => {
  const preconnect = () => {}
  expect(
    pace(
      Object.assign(async () => new Response(), { preconnect }),
      setUp().pacer,
    ).preconnect,
  ).toBe(preconnect)
})

test('an error of the pacer comes as it is', async () => {
  const { pacer } = setUp({ intervalMs: 1000, maxQueue: 1 })
  const paced = pace(async (_url: string) => new Response(null), pacer)
  await paced('http://a.example/')
  const queued = failureOf(paced('http://a.example/'))
  await waiting(pacer, 1)
  expect(await failureOf(paced('http://a.example/'))).toBeInstanceOf(QueueFullError)
  await pacer.close()
  expect((await queued).code).toBe('ERR_HOSTPACE_CLOSED')
})

test('an error of fetch comes as it is, is observed and frees the permit', async () => {
  const { pacer, statuses } = setUp(fast)
  const failure = new TypeError('fetch failed')
  const paced = pace(async (_url: string) => Promise.reject(failure), pacer)
  expect(await failureOf(paced('http://a.example/'))).toBe(failure)
  expect(statuses).toEqual([undefined])
  expect(pacer.stats().total.inFlight).toBe(0)
})

test('the request is handed to keyBy', async () => {
  const { pacer, departures } = setUp({
    ...fast,
    keyBy: (url, request) => `${url.host} ${(request as { init: RequestInit }).init.method}`,
  })
  await pace(async (_url: string, _init?: RequestInit) => new Response(null), pacer)('http://a.example/', {
    method: 'PUT',
  })
  expect(departures).toEqual(['a.example PUT'])
})

test.each([
  [{ skip: '5' }, 'hostpace.skip'],
  [{ maxWait: 5 }, 'hostpace.maxWait'],
  [null, 'hostpace'],
])('what makes no sense is refused: %o', async (hostpace, path) => {
  const { pacer } = setUp()
  const sent = pace(fetch, pacer)('http://a.example/', { hostpace: hostpace as never })
  await expect(sent).rejects.toMatchObject({ name: 'PolicyError', path })
  expect(pacer.stats().total.departures).toBe(0)
  expect(() => pace(undefined as never, pacer)).toThrow(/^fetch must be a function$/)
})

describe('twice', () => {
  test('the same pacer: nothing changes', () => {
    const { pacer } = setUp()
    const paced = pace(fetch, pacer)
    expect(pace(paced, pacer)).toBe(paced)
    expect(pace(pace(paced, setUp().pacer), pacer)).not.toBe(paced)
  })

  test('the same pacer inside and outside of a layer: one wait for each request that leaves', async () => {
    const { pacer, departures } = setUp(fast)
    const asked: string[] = []
    const inner = pace(async (url: string) => {
      asked.push(url)
      return new Response(null, { status: asked.length === 1 ? 503 : 200 })
    }, pacer)
    const retrying = async (url: string, _init?: RequestInit) => {
      const first = await inner(url)
      return first.ok ? first : inner(url)
    }
    await pace(retrying, pacer)('http://a.example/')
    expect(asked).toHaveLength(2)
    expect(departures).toHaveLength(2)
    expect(pacer.stats().total.inFlight).toBe(0)
  })

  test('two pacers both charge each request once, in one order however they are installed', async () => {
    const asked: string[] = []
    const [first, second] = [createPacer(fast), createPacer(fast)]
    first.on('depart', () => void asked.push('first'))
    second.on('depart', () => void asked.push('second'))
    const stub = async (_url: string) => new Response(null)
    await pace(pace(pace(stub, first), second), first)('http://a.example/')
    await pace(pace(stub, second), first)('http://a.example/')
    expect(asked).toEqual(['first', 'second', 'first', 'second'])
    await Promise.all([first.close(), second.close()])
  })
})

test('the interval begins when fetch has been called, which takes Node a while the first time', async () => {
  const { clock, pacer } = setUp()
  let calls = 0
  const paced = pace((_url: string) => {
    if (++calls === 1) clock.advance(300)
    return Promise.resolve(new Response(null))
  }, pacer)
  await paced('http://a.example/')
  const second = paced('http://a.example/')
  await clock.advanceAsync(999)
  expect(calls).toBe(1)
  await clock.advanceAsync(1)
  await second
  expect(calls).toBe(2)
})
