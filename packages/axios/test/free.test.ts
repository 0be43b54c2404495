import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pace } from '@hostpace/axios'
import axios, { type AxiosRequestConfig, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios'
import { describe, expect, onTestFinished, test } from 'vitest'
import { RecordingPacer } from './support/recording-pacer.ts'
import { serve } from './support/server.ts'

function paced(defaults: AxiosRequestConfig = {}) {
  const pacer = new RecordingPacer()
  const client = axios.create({ proxy: false, ...defaults } as object)
  pace(client, pacer.asPacer)
  return { pacer, client }
}

const mock = async (config: InternalAxiosRequestConfig): Promise<AxiosResponse> => ({
  data: 'mocked',
  status: 200,
  statusText: 'OK',
  headers: {},
  config,
})

describe('acceptance 25: what does not leave costs nothing', () => {
  test.each(['http', 'fetch'])('a data: URL by the %s adapter', async (adapter) => {
    const { pacer, client } = paced({ adapter })
    expect((await client.get('data:text/plain,hello', { responseType: 'text' })).data).toBe('hello')
    expect(pacer.waits).toEqual([])
  })

  test('a mock, unless the caller says otherwise', async () => {
    const { pacer, client } = paced({ adapter: mock })
    expect((await client.get('http://a.example/')).data).toBe('mocked')
    expect(pacer.waits).toEqual([])
    await client.get('http://a.example/', { hostpace: { skip: false } })
    expect(pacer.origins).toEqual(['http://a.example'])
    expect(pacer.states).toEqual(['over'])
  })

  test.each(['before', 'after'])('a cache that answers from an interceptor installed %s', async (order) => {
    const pacer = new RecordingPacer()
    const client = axios.create()
    const cache = () =>
      client.interceptors.request.use((config) => {
        config.adapter = mock
        return config
      })
    if (order === 'before') cache()
    pace(client, pacer.asPacer)
    if (order === 'after') cache()
    expect((await client.get('http://a.example/')).data).toBe('mocked')
    expect(pacer.waits).toEqual([])
  })

  test('the adapters of axios are paced when given as functions', async () => {
    const a = await serve()
    const { pacer, client } = paced()
    await client.get(a.origin, { adapter: axios.getAdapter('http') })
    await client.get(a.origin, { adapter: axios.getAdapter('fetch') })
    await client.get(a.origin, { adapter: ['xhr', 'fetch'] })
    expect(pacer.statuses).toEqual([200, 200, 200])
  })

  test('a unix socket, unless it has a key', async () => {
    const socketPath = join(tmpdir(), `hostpace-${process.pid}.sock`)
    const server = createServer((_request, response) => response.end('local'))
    await new Promise<void>((resolve) => server.listen(socketPath, resolve))
    onTestFinished(() => void server.close())
    const { pacer, client } = paced()
    expect((await client.get('http://localhost/x', { socketPath })).data).toBe('local')
    expect(pacer.waits).toEqual([])
    await client.get('http://localhost/x', { socketPath, hostpace: { key: socketPath } })
    expect(pacer.waits[0]?.options.key).toBe(socketPath)
    expect(pacer.states).toEqual(['over'])
  })

  test('what the caller says to skip', async () => {
    const a = await serve()
    const { pacer, client } = paced()
    await client.get(a.origin, { hostpace: { skip: true } })
    expect(pacer.waits).toEqual([])
  })
})

describe('acceptance 19: where a request goes', () => {
  test.each<[string, AxiosRequestConfig, string]>([
    ['an absolute URL', { url: 'http://A.example:80/x' }, 'http://a.example'],
    ['a baseURL', { url: '/x', baseURL: 'http://a.example/v1' }, 'http://a.example'],
    ['an absolute URL over a baseURL', { url: 'http://b.example/x', baseURL: 'http://a.example' }, 'http://b.example'],
    [
      'an absolute URL under a baseURL',
      { url: 'http://b.example/x', baseURL: 'http://a.example', allowAbsoluteUrls: false },
      'http://a.example',
    ],
    ['credentials', { url: 'http://u:p@a.example/x' }, 'http://a.example'],
    ['IPv6', { url: 'http://[0:0:0:0:0:0:0:1]:8080/x' }, 'http://[::1]:8080'],
  ])('%s', async (_name, config, origin) => {
    const { pacer, client } = paced({ adapter: mock, hostpace: { skip: false } })
    await client.request(config)
    expect(pacer.origins).toEqual([origin])
  })

  test('an interceptor that runs later may change it', async () => {
    const pacer = new RecordingPacer()
    const client = axios.create({ adapter: mock, hostpace: { skip: false } })
    client.interceptors.request.use((config) => {
      config.baseURL = 'http://b.example'
      return config
    })
    pace(client, pacer.asPacer)
    await client.get('/x', { baseURL: 'http://a.example' })
    expect(pacer.origins).toEqual(['http://b.example'])
  })

  test('the defaults of axios itself do not leak into other instances', async () => {
    const { pacer, client } = paced()
    axios.defaults.baseURL = 'http://leaked.example'
    onTestFinished(() => void delete axios.defaults.baseURL)
    await client.get('/x').catch(() => {})
    expect(pacer.waits).toEqual([])
  })

  test.each(['http', 'fetch'])('a bad URL gives the error of the %s adapter and takes no place', async (adapter) => {
    for (const url of ['http://', '//a.example/x', 'http:/a.example', 'nonsense', 'ftp://a.example/']) {
      const bare = await axios.get(url, { adapter, proxy: false }).catch((error) => error)
      const { pacer, client } = paced({ adapter })
      const error = await client.get(url).catch((error) => error)
      expect([error.name, error.code, error.message]).toEqual([bare.name, bare.code, bare.message])
      expect(pacer.waits).toEqual([])
    }
  })
})

test('the options of a request reach the pacer; on another host without the key and the reservation', async () => {
  const b = await serve()
  const a = await serve((request, response) => {
    if (request.url === '/r') response.writeHead(302, { location: '/r2' }).end()
    else response.writeHead(302, { location: b.origin }).end()
  })
  const { pacer, client } = paced()
  class Reservation {
    waitMs = 0
    departAtMs = 0
    layer = 'none' as const
    cancel() {}
  }
  const reservation = new Reservation()
  await client.get(`${a.origin}/r`, { hostpace: { cost: 3, priority: 2, maxWaitMs: 9, key: 'mine', reservation } })
  expect(pacer.waits.map(({ options }) => [options.cost, options.priority, options.maxWaitMs])).toEqual([
    [3, 2, 9],
    [3, 2, 9],
    [3, 2, 9],
  ])
  expect(pacer.waits.map(({ options }) => options.key)).toEqual(['mine', 'mine', undefined])
  expect(pacer.waits.map(({ options }) => options.reservation)).toEqual([reservation, undefined, undefined])
})
