import { getEventListeners } from 'node:events'
import { pace } from '@hostpace/fetch'
import { describe, expect, test } from 'vitest'
import { failureOf, fast, serve, setUp, still, streamOf, waiting } from './support.ts'

type Send = (paced: typeof fetch, url: string, init: RequestInit) => Promise<Response>

const ways: [name: string, send: Send][] = [
  ['init', (paced, url, init) => paced(url, init)],
  ['a Request', (paced, url, init) => paced(new Request(url, init))],
]

describe.each(ways)('the signal of %s', (_name, send) => {
  test('B06: an abort while it waits rejects with exactly the reason', async () => {
    const a = await serve()
    const { clock, pacer } = setUp()
    const paced = pace(fetch, pacer)
    await (await paced(a.origin)).text()
    const abort = new AbortController()
    const error = failureOf(send(paced, a.origin, { signal: abort.signal }))
    await waiting(pacer, 1)
    const reason = { why: 'no longer wanted' }
    abort.abort(reason)
    expect(pacer.stats().total.queued).toBe(0)
    expect(await error).toBe(reason)
    await clock.advanceAsync(10_000)
    await still()
    expect(a.hits).toHaveLength(1)
    expect(pacer.stats().total.inFlight).toBe(0)
  })

  test('B06: AbortSignal.timeout gives a TimeoutError', async () => {
    const a = await serve()
    const { pacer } = setUp()
    const paced = pace(fetch, pacer)
    await (await paced(a.origin)).text()
    const signal = AbortSignal.timeout(20)
    const error = await failureOf(send(paced, a.origin, { signal }))
    expect(error.name).toBe('TimeoutError')
    expect(error).toBe(signal.reason)
  })

  test('one that is aborted already takes no slot', async () => {
    const a = await serve()
    const { pacer, departures } = setUp()
    const signal = AbortSignal.abort('too late')
    expect(await failureOf(send(pace(fetch, pacer), a.origin, { signal }))).toBe('too late')
    expect(departures).toEqual([])
    expect(a.hits).toEqual([])
  })

  test('an upload that is aborted while it waits is cancelled, unread', async () => {
    const a = await serve()
    const { pacer } = setUp()
    const paced = pace(fetch, pacer)
    await (await paced(a.origin)).text()
    const { stream, cancelled } = streamOf('body')
    const abort = new AbortController()
    const init = { method: 'POST', body: stream, duplex: 'half', signal: abort.signal } as RequestInit
    const error = failureOf(send(paced, a.origin, init))
    await waiting(pacer, 1)
    abort.abort('why')
    expect(await error).toBe('why')
    expect(cancelled).toEqual(['why'])
  })
})

test('the signal in init replaces that of the Request', async () => {
  const a = await serve()
  const { pacer } = setUp(fast)
  const request = new Request(a.origin, { signal: AbortSignal.abort() })
  const response = await pace(fetch, pacer)(request, { signal: new AbortController().signal })
  expect(await response.text()).toBe('ok')
})

test('no listener is left, whether it ends well or badly', async () => {
  const { clock, pacer } = setUp()
  const paced = pace(async (_url: string, _init?: RequestInit) => new Response('ok'), pacer)
  const abort = new AbortController()
  const { signal } = abort
  const left = () => getEventListeners(signal, 'abort').length
  await (await paced('http://a.example/', { signal })).text()
  expect(left()).toBe(0)
  const second = paced('http://a.example/', { signal })
  const third = paced('http://a.example/', { signal })
  await waiting(pacer, 2)
  await clock.advanceAsync(1000)
  const response = await second
  expect(left()).toBeGreaterThan(0)
  await response.text()
  abort.abort('enough')
  expect(await failureOf(third)).toBe('enough')
  expect(left()).toBe(0)
})

test('an abort in the turn in which it may leave sends nothing and takes no slot', async () => {
  const { clock, pacer } = setUp()
  const urls: unknown[] = []
  const paced = pace(async (url: string, _init?: RequestInit) => {
    urls.push(url)
    return new Response(null)
  }, pacer)
  await paced('http://a.example/1')
  const abort = new AbortController()
  const error = failureOf(paced('http://a.example/2', { signal: abort.signal }))
  await waiting(pacer, 1)
  pacer.on('depart', () => abort.abort('just now'))
  await clock.advanceAsync(1000)
  expect(await error).toBe('just now')
  expect(urls).toEqual(['http://a.example/1'])
  expect(pacer.stats().total).toMatchObject({ queued: 0, inFlight: 0 })
})
