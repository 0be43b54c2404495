/** A client and the transport beneath it, paced by the same pacer: acceptance case 18. */
import { pace as paceAxios } from '@hostpace/axios'
import { createPacer } from '@hostpace/core'
import { pace as paceFetch } from '@hostpace/fetch'
import { pace as paceDispatcher } from '@hostpace/undici'
import axios from 'axios'
import {
  Agent,
  type Dispatcher,
  getGlobalDispatcher,
  interceptors,
  setGlobalDispatcher,
  Request as UndiciRequest,
  fetch as undiciFetch,
} from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { startTarget } from '../packages/core/src/testing/target-server.ts'

const fetches = [
  { name: 'built-in fetch', fetch: undefined, Request: undefined },
  {
    name: "undici's fetch",
    fetch: undiciFetch as unknown as typeof fetch,
    Request: UndiciRequest as unknown as typeof Request,
  },
]

async function setUp(compose: (dispatcher: Dispatcher) => Dispatcher = (dispatcher) => dispatcher) {
  const [a, b] = [await startTarget(), await startTarget()]
  const pacer = createPacer({ rate: 1000, capacity: 1000, justification: 'a test' })
  const agent = new Agent()
  const before = getGlobalDispatcher()
  setGlobalDispatcher(compose(agent.compose(paceDispatcher(pacer))))
  onTestFinished(async () => {
    setGlobalDispatcher(before)
    await Promise.all([a.close(), b.close(), agent.close(), pacer.close()])
  })
  const client = axios.create({ adapter: 'fetch' })
  paceAxios(client, pacer)
  const departures: string[] = []
  pacer.on('depart', ({ key }) => void departures.push(key))
  return { a, b, pacer, client, departures }
}

test.each(fetches)('axios over $name: one wait for each hop', async ({ fetch, Request }) => {
  const { a, b, pacer, client, departures } = await setUp()
  const env = fetch && { env: { fetch, Request } }
  await client.get(a.url('/ok'), env)
  await client.get(a.url('/redirect', { to: b.url('/ok') }), env)
  expect(departures).toEqual([a.origin, a.origin, b.origin])
  expect([...a.paths, ...b.paths]).toHaveLength(3)
  expect(pacer.stats().total).toMatchObject({ queued: 0, inFlight: 0 })
})

test('axios over a paced fetch over a paced dispatcher: one wait for each hop', async () => {
  const { a, b, pacer, client, departures } = await setUp()
  await client.get(a.url('/redirect', { to: b.url('/ok') }), { env: { fetch: paceFetch(fetch, pacer) } })
  expect(departures).toEqual([a.origin, b.origin])
  expect([...a.paths, ...b.paths]).toHaveLength(2)
  expect(pacer.stats().total).toMatchObject({ queued: 0, inFlight: 0 })
})

test('what goes through the transport alone is paced, also by others at the same time', async () => {
  const { a, b, client, departures } = await setUp()
  await Promise.all([client.get(a.url('/ok')), fetch(b.url('/ok')), client.get(b.url('/ok')), fetch(a.url('/ok'))])
  expect(departures.sort()).toEqual([a.origin, a.origin, b.origin, b.origin].sort())
})

test('a retry beneath the client waits for itself', async () => {
  const retry = interceptors.retry({ maxRetries: 1, minTimeout: 1, statusCodes: [503] })
  const { a, client, departures } = await setUp((dispatcher) => dispatcher.compose(retry))
  await client.get(a.url('/limited', { code: 503 }))
  expect(a.paths).toHaveLength(2)
  expect(departures).toEqual([a.origin, a.origin])
})

test('what a fetch asks elsewhere on its way is not taken for the request', async () => {
  const { a, b, client, departures } = await setUp()
  const withToken = (async (url: Request, init: RequestInit) => {
    await fetch(b.url('/token'))
    return fetch(url, init)
  }) as unknown as typeof fetch
  await client.get(a.url('/ok'), { env: { fetch: withToken } })
  expect(departures).toEqual([a.origin, b.origin])
})

test('an answer is told of once', async () => {
  const { a, pacer, client } = await setUp()
  const limited: string[] = []
  pacer.on('observe', (event) => event.limited && limited.push(event.key))
  await client.get(a.url('/limited', { after: 0 })).catch(() => {})
  expect(limited).toEqual([a.origin])
})
