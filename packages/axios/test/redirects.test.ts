import { pace } from '@hostpace/axios'
import axios from 'axios'
import { describe, expect, test } from 'vitest'
import { RecordingPacer } from './support/recording-pacer.ts'
import { redirectTo, serve } from './support/server.ts'

function paced(adapter: string) {
  const pacer = new RecordingPacer()
  const client = axios.create({ adapter, proxy: false })
  pace(client, pacer.asPacer)
  return { pacer, client }
}

describe.each(['http', 'fetch'])('redirects by the %s adapter', (adapter) => {
  test('acceptance 1: a redirect to another host is paced and observed by that host', async () => {
    const a = await serve((request, response, nth) =>
      request.url === '/r' ? redirectTo(`${b.origin}/back`)(request, response, nth) : response.end('home'),
    )
    const b = await serve((request, response, nth) => redirectTo(`${a.origin}/ok`)(request, response, nth))
    const { pacer, client } = paced(adapter)

    const response = await client.get(`${a.origin}/r`)

    expect(response.data).toBe('home')
    expect(pacer.origins).toEqual([a.origin, b.origin, a.origin])
    expect(pacer.statuses).toEqual([302, 302, 200])
    expect(pacer.states).toEqual(['over', 'over', 'over'])
    for (const { observed, options } of pacer.waits) {
      expect(observed[0]?.latencyMs).toBeGreaterThan(0)
      expect(options.reportsSent).toBe(true)
    }
    expect(
      JSON.stringify([...new Map(Object.entries(pacer.waits[0]?.observed[0]?.headers ?? {}))]) +
        JSON.stringify([...((pacer.waits[0]?.observed[0]?.headers as Iterable<unknown>) ?? [])]),
    ).toMatch(/x-hop/)
  })

  test('a hop is not sent before its host lets it, and the permit of the hop before is free by then', async () => {
    const b = await serve()
    const a = await serve(redirectTo(`${b.origin}/x`))
    const { pacer, client } = paced(adapter)
    pacer.holds = (_url, nth) => nth === 1

    const sending = client.get(`${a.origin}/r`)
    const second = await pacer.nth(1)
    expect(pacer.states).toEqual(['over', 'waiting'])
    expect(b.hits).toEqual([])
    second.grant()
    await sending
    expect(b.paths).toEqual(['/x'])
    expect(pacer.states).toEqual(['over', 'over'])
  })

  test('two pacers: each charges each hop once', async () => {
    const b = await serve()
    const a = await serve(redirectTo(`${b.origin}/x`))
    const { pacer, client } = paced(adapter)
    const other = new RecordingPacer()
    pace(client, other.asPacer)
    await client.get(`${a.origin}/r`)
    expect(pacer.origins).toEqual([a.origin, b.origin])
    expect(other.origins).toEqual([a.origin, b.origin])
    expect(other.statuses).toEqual([302, 200])
  })

  test.each([301, 302, 303, 307, 308])('a %i answer to a POST is followed as without pacing', async (status) => {
    const b = await serve((_request, response) => response.end('there'))
    const a = await serve(redirectTo(`${b.origin}/x`, status))
    const bare = axios.create({ adapter, proxy: false })
    const { pacer, client } = paced(adapter)
    const options = { headers: { authorization: 'Bearer x', 'x-own': 'yes' } }

    await bare.post(`${a.origin}/r`, { n: 1 }, options)
    const response = await client.post(`${a.origin}/r`, { n: 1 }, options)

    expect(response.data).toBe('there')
    const [expected, got] = b.hits
    expect(got?.method).toBe(expected?.method)
    expect(String(got?.body)).toBe(String(expected?.body))
    const { host: _h, ...expectedHeaders } = expected?.headers ?? {}
    const { host: _g, ...gotHeaders } = got?.headers ?? {}
    expect(gotHeaders).toEqual(expectedHeaders)
    expect(pacer.statuses).toEqual([status, 200])
  })

  test('acceptance 30: a redirect loop ends with the error of the client, and no permit is kept', async () => {
    const a = await serve((request, response, nth) => redirectTo('/r')(request, response, nth))
    const bare = await axios.get(`${a.origin}/r`, { adapter, maxRedirects: 3, proxy: false }).catch((error) => error)
    const bareHits = a.hits.length
    const { pacer, client } = paced(adapter)
    const error = await client.get(`${a.origin}/r`, { maxRedirects: 3 }).catch((error) => error)
    expect(error.code).toBe(bare.code)
    expect(error.message).toBe(bare.message)
    expect(a.hits.length).toBe(bareHits * 2)
    expect(pacer.waits.length).toBe(bareHits)
    expect(pacer.statuses).toEqual(Array(bareHits).fill(302))
    expect(new Set(pacer.states)).toEqual(new Set(['over']))
  })

  test('acceptance 30: with maxRedirects 0 a redirect is the response', async () => {
    const a = await serve(redirectTo('/elsewhere'))
    const { pacer, client } = paced(adapter)
    const response = await client.get(`${a.origin}/r`, { maxRedirects: 0, validateStatus: null })
    expect(response.status).toBe(302)
    expect(pacer.statuses).toEqual([302])
    expect(pacer.states).toEqual(['over'])
    expect(a.paths).toEqual(['/r'])
  })

  test('a pacer that refuses a redirect hop: its error is the cause, and the hop before stays observed', async () => {
    const b = await serve()
    const a = await serve(redirectTo(`${b.origin}/x`))
    const { pacer, client } = paced(adapter)
    pacer.holds = (_url, nth) => nth === 1
    const sending = client.get(`${a.origin}/r`).catch((error) => error)
    const refusal = Object.assign(new Error('full'), { code: 'ERR_HOSTPACE_QUEUE_FULL' })
    ;(await pacer.nth(1)).refuse(refusal)
    const error = await sending
    expect(axios.isAxiosError(error)).toBe(true)
    expect(axios.isCancel(error)).toBe(false)
    expect(error.cause).toBe(refusal)
    expect(error.code).toBe('ERR_HOSTPACE_QUEUE_FULL')
    expect(error.config).toBeUndefined()
    expect(pacer.statuses).toEqual([302])
    expect(b.hits).toEqual([])
  })
})

test('the beforeRedirect of the caller is called, sees the agents of axios, and may throw', async () => {
  const b = await serve()
  const a = await serve(redirectTo(`${b.origin}/x`))
  const { pacer, client } = paced('http')
  const seen: string[] = []
  await client.get(`${a.origin}/r`, {
    beforeRedirect(options, { statusCode }) {
      seen.push(`${statusCode} ${options.href}`)
      options.headers['x-from-hook'] = 'yes'
    },
  })
  expect(seen).toEqual([`302 ${b.origin}/x`])
  expect(b.hits[0]?.headers['x-from-hook']).toBe('yes')

  const error = await client
    .get(`${a.origin}/r`, {
      beforeRedirect() {
        throw new Error('not there')
      },
    })
    .catch((error) => error)
  expect(error.message).toContain('not there')
  expect(pacer.waits).toHaveLength(3)
  expect(pacer.states).toEqual(['over', 'over', 'over'])
})
