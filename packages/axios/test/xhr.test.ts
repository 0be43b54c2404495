/** The xhr adapter, as axios has it in browsers, on the XMLHttpRequest of jsdom. */
import type { Pacer } from '@hostpace/core'
import { createPacer } from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'
import { JSDOM } from 'jsdom'
import { expect, onTestFinished, test, vi } from 'vitest'
import { serve, type TestServer } from './support/server.ts'

/** A page of the server's own, and an axios that was loaded in it. */
async function openPage(server: TestServer, pacer: Pacer) {
  const { window } = new JSDOM('', { url: server.origin })
  vi.stubGlobal('XMLHttpRequest', window.XMLHttpRequest)
  vi.stubGlobal('FormData', window.FormData)
  vi.resetModules()
  onTestFinished(() => {
    vi.unstubAllGlobals()
    window.close()
  })
  const { default: axios } = await import('axios')
  const { pace } = await import('@hostpace/axios')
  const client = axios.create({ adapter: 'xhr', baseURL: server.origin })
  pace(client, pacer)
  return { axios, client }
}

function manualPacer(options = {}) {
  const clock = new ManualClock()
  const pacer = createPacer({ clock, intervalMs: 1000, ...options })
  onTestFinished(() => pacer.close())
  const waiting = (count: number) => vi.waitFor(() => expect(pacer.stats().total.queued).toBe(count))
  return { clock, pacer, waiting }
}

test('each request waits its turn, and its answer is observed', async () => {
  const server = await serve((_request, response, nth) => {
    response.writeHead(nth === 1 ? 503 : 200, nth === 1 ? { 'retry-after': '5' } : {}).end('ok')
  })
  const { clock, pacer, waiting } = manualPacer()
  const { client } = await openPage(server, pacer)
  expect((await client.get('/first')).data).toBe('ok')
  const second = client.get('/second').catch((error) => error.response.status)
  await waiting(1)
  expect(server.paths).toEqual(['/first'])
  await clock.advanceAsync(1000)
  expect(await second).toBe(503)
  expect(server.paths).toEqual(['/first', '/second'])
  expect((await pacer.peek(server.origin)).waitMs).toBe(5000)
  expect(pacer.stats().total).toMatchObject({ departures: 2, inFlight: 0 })
})

test('an abort while it waits sends nothing, and one on the way frees the permit', async () => {
  const server = await serve(() => {})
  const { clock, pacer, waiting } = manualPacer({ concurrency: 1 })
  const { axios, client } = await openPage(server, pacer)
  const hanging = new AbortController()
  const first = client.get('/hangs', { signal: hanging.signal })
  await vi.waitFor(() => expect(server.paths).toHaveLength(1))
  const waits = new AbortController()
  const second = client.get('/waits', { signal: waits.signal })
  await waiting(1)
  waits.abort()
  await expect(second).rejects.toSatisfy(axios.isCancel)
  hanging.abort()
  await expect(first).rejects.toSatisfy(axios.isCancel)
  await clock.advanceAsync(5000)
  expect(pacer.stats().total).toMatchObject({ departures: 1, inFlight: 0, queued: 0 })
  expect(server.paths).toEqual(['/hangs'])
})

test('a body that is sent arrives whole, and a network error frees the permit', async () => {
  const server = await serve((request, response) => {
    if (request.url === '/reset') response.socket?.destroy()
    else response.end('ok')
  })
  const { clock, pacer } = manualPacer({ concurrency: 1 })
  const { client } = await openPage(server, pacer)
  await client.post('/form', { field: 'value' })
  expect(server.hits[0]?.body.toString()).toBe('{"field":"value"}')
  const failing = client.get('/reset')
  failing.catch(() => {})
  await clock.advanceAsync(1000)
  await expect(failing).rejects.toMatchObject({ code: 'ERR_NETWORK' })
  expect(pacer.stats().total.inFlight).toBe(0)
})

test('the redirects that a browser follows by itself are one request to the pacer', async () => {
  const server = await serve((request, response) => {
    if (request.url === '/moved') response.writeHead(302, { location: '/there' }).end()
    else response.end('there')
  })
  const { pacer } = manualPacer()
  const { client } = await openPage(server, pacer)
  expect((await client.get('/moved')).data).toBe('there')
  expect(server.paths).toEqual(['/moved', '/there'])
  expect(pacer.stats().total.departures).toBe(1)
})
