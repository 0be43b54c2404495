import { pace } from '@hostpace/axios'
import axios, { type AxiosRequestConfig } from 'axios'
import { describe, expect, test } from 'vitest'
import { RecordingPacer } from './support/recording-pacer.ts'
import { redirectTo, serve, sleep } from './support/server.ts'

function paced(adapter: string, defaults: AxiosRequestConfig = {}) {
  const pacer = new RecordingPacer()
  const client = axios.create({ adapter, proxy: false, ...defaults } as object)
  pace(client, pacer.asPacer)
  return { pacer, client }
}

describe.each(['http', 'fetch'])('acceptance 14: the time-out of the %s adapter', (adapter) => {
  const code = adapter === 'http' ? 'ECONNABORTED' : 'ETIMEDOUT'

  test.each([undefined, 0])('does not count the wait of the first hop (maxRedirects %s)', async (maxRedirects) => {
    const a = await serve()
    const { pacer, client } = paced(adapter, maxRedirects === undefined ? {} : { maxRedirects })
    pacer.holds = () => true
    const sending = client.get(a.origin, { timeout: 100 })
    const wait = await pacer.nth(0)
    await sleep(180)
    wait.grant()
    const response = await sending
    expect(response.status).toBe(200)
    expect(response.duration).toBeLessThan(100)
  })

  test('does not count the waits of redirect hops, and goes on after them', async () => {
    const a = await serve((request, response, nth) => {
      if (request.url !== '/ok') redirectTo(request.url === '/r' ? '/r2' : '/ok')(request, response, nth)
      else setTimeout(() => response.end('ok'), 60)
    })
    const { pacer, client } = paced(adapter)
    pacer.holds = () => true
    const sending = client.get(`${a.origin}/r`, { timeout: 250 })
    for (const nth of [0, 1, 2]) {
      const wait = await pacer.nth(nth)
      await sleep(200)
      wait.grant()
    }
    const response = await sending
    expect(response.data).toBe('ok')
    expect(response.duration).toBeLessThan(250)
  })

  test('still ends a request that is not answered, after the wait', async () => {
    const a = await serve(() => {})
    const { pacer, client } = paced(adapter)
    pacer.holds = () => true
    const sending = client.get(a.origin, { timeout: 100 }).catch((error) => error)
    const wait = await pacer.nth(0)
    await sleep(150)
    expect(wait.state).toBe('waiting')
    wait.grant()
    const error = await sending
    expect(error.message).toBe('timeout of 100ms exceeded')
    expect(error.code).toBe(code)
    expect(error.config.timeout).toBe(100)
    expect(pacer.states).toEqual(['over'])
    expect(pacer.waits[0]?.outcome?.error).toBe(error)
    expect(a.hits).toHaveLength(1)
  })

  test('still ends a redirect hop that is not answered, with what was left', async () => {
    const a = await serve((request, response, nth) => {
      if (request.url === '/r') redirectTo('/never')(request, response, nth)
    })
    const { pacer, client } = paced(adapter)
    pacer.holds = (_url, nth) => nth === 1
    const sending = client.get(`${a.origin}/r`, { timeout: 150 }).catch((error) => error)
    const wait = await pacer.nth(1)
    await sleep(250)
    wait.grant()
    const resumedAtMs = performance.now()
    const error = await sending
    expect(error.code).toBe(code)
    expect(performance.now() - resumedAtMs).toBeGreaterThan(80)
    expect(pacer.states).toEqual(['over', 'over'])
    expect(pacer.waits[1]?.outcome?.error).toBe(error)
  })

  test('also ends a response body that does not end', async () => {
    const a = await serve((_request, response) => {
      response.write('half')
    })
    const { pacer, client } = paced(adapter)
    const error = await client.get(a.origin, { timeout: 100 }).catch((error) => error)
    expect(axios.isAxiosError(error)).toBe(true)
    expect(pacer.statuses).toEqual([200])
    expect(pacer.states).toEqual(['over'])
  })
})

test('the duration of an HTTP error excludes the wait as well', async () => {
  const a = await serve((_request, response) => response.writeHead(503).end())
  const { pacer, client } = paced('http')
  pacer.holds = () => true
  const sending = client.get(a.origin).catch((error) => error)
  const wait = await pacer.nth(0)
  await sleep(120)
  wait.grant()
  const { response } = await sending
  expect(response.duration).toBeLessThan(100)
  expect(Object.keys(response)).toContain('duration')
})
