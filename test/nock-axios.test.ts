import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pace } from '@hostpace/axios'
import { createPacer } from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'
import axios from 'axios'
import nock from 'nock'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { isNock15 } from './nock-version.ts'

function paced(adapter: string) {
  const clock = new ManualClock()
  const pacer = createPacer({ intervalMs: 1000, adapt: false, clock })
  const client = axios.create({ adapter, proxy: false })
  pace(client, pacer)
  onTestFinished(() => pacer.close())
  const departures = (origin: string) => pacer.stats().hosts[origin]?.departures ?? 0
  return { clock, client, departures }
}

/** Lets what is on its way arrive; nothing here depends on how long it takes. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 30))

beforeEach(() => {
  if (!nock.isActive()) nock.activate()
})
afterEach(() => {
  nock.cleanAll()
  nock.enableNetConnect()
  nock.restore()
})

describe.each(['http', 'fetch'])('nock 14 and the %s adapter', (adapter) => {
  test('mocked requests are paced, because nock takes the place of the network', async () => {
    nock('http://a.example').get('/x').times(2).reply(200, 'mocked')
    const { clock, client, departures } = paced(adapter)
    expect((await client.get('http://a.example/x')).data).toBe('mocked')
    let second: string | undefined
    const sending = client.get('http://a.example/x').then(({ data }) => {
      second = data
    })
    await settle()
    expect(second).toBeUndefined()
    await clock.advanceAsync(1000)
    await sending
    expect(second).toBe('mocked')
    expect(departures('http://a.example')).toBe(2)
  })

  test('a mocked limit answer holds the host', async () => {
    nock('http://a.example').get('/x').reply(429, 'slow down', { 'retry-after': '7' })
    const clock = new ManualClock()
    const pacer = createPacer({ rate: '10r/s', clock })
    onTestFinished(() => pacer.close())
    const client = axios.create({ adapter, proxy: false })
    pace(client, pacer)
    const error = await client.get('http://a.example/x').catch((error) => error)
    expect(error.response.status).toBe(429)
    const { waitMs } = await pacer.peek('http://a.example/x')
    expect(waitMs).toBeGreaterThanOrEqual(7000)
  })

  test('a mocked network error stays what it is', async () => {
    nock('http://a.example')
      .get('/x')
      .replyWithError(Object.assign(new Error('reset'), { code: 'ECONNRESET' }))
    const { client, departures } = paced(adapter)
    const error = await client.get('http://a.example/x').catch((error) => error)
    expect(axios.isAxiosError(error)).toBe(true)
    expect(departures('http://a.example')).toBe(1)
  })
})

test('redirects of the http adapter; limit of nock 14: it replaces agents, so they are not paced', async () => {
  nock('http://a.example').get('/r').reply(302, undefined, { location: 'http://b.example/x' })
  nock('http://b.example').get('/x').reply(200, 'there')
  const { client, departures } = paced('http')
  expect((await client.get('http://a.example/r')).data).toBe('there')
  expect(departures('http://a.example')).toBe(1)
  expect(departures('http://b.example')).toBe(isNock15 ? 1 : 0)
})

test('redirects of the fetch adapter are paced under nock as well', async () => {
  nock('http://a.example').get('/r').reply(302, undefined, { location: 'http://b.example/x' })
  nock('http://b.example').get('/x').reply(200, 'there')
  const { client, departures } = paced('fetch')
  expect((await client.get('http://a.example/r')).data).toBe('there')
  expect(departures('http://a.example')).toBe(1)
  expect(departures('http://b.example')).toBe(1)
})

test('requests that nock lets through are paced', async () => {
  const server = createServer((_request, response) => response.end('real'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { client, departures } = paced('http')
  expect((await client.get(origin)).data).toBe('real')
  expect(departures(origin)).toBe(1)
})
