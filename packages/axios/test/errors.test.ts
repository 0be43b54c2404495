import type { AddressInfo } from 'node:net'
import { createServer as createTcpServer } from 'node:net'
import { pace } from '@hostpace/axios'
import axios from 'axios'
import { describe, expect, test } from 'vitest'
import { RecordingPacer } from './support/recording-pacer.ts'
import { serve } from './support/server.ts'

function paced(adapter: string) {
  const pacer = new RecordingPacer()
  const client = axios.create({ adapter, proxy: false })
  pace(client, pacer.asPacer)
  return { pacer, client, bare: axios.create({ adapter, proxy: false }) }
}

async function closedPort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

describe.each(['http', 'fetch'])('acceptance 23: errors by the %s adapter', (adapter) => {
  test('an HTTP error', async () => {
    const a = await serve((_request, response) => response.writeHead(404, { 'x-why': 'gone' }).end('nothing'))
    const { pacer, client, bare } = paced(adapter)
    const expected = await bare.get(a.origin).catch((error) => error)
    const error = await client.get(a.origin).catch((error) => error)
    expect(error).toBeInstanceOf(axios.AxiosError)
    expect([error.code, error.message, error.status]).toEqual([expected.code, expected.message, expected.status])
    expect(error.response.data).toBe('nothing')
    expect(error.response.config).toBe(error.config)
    expect(Object.keys(error.config).sort()).toEqual(Object.keys(expected.config).sort())
    expect(error.config.adapter).toEqual(expected.config.adapter)
    expect(pacer.statuses).toEqual([404])
    expect(pacer.states).toEqual(['over'])
  })

  test('a refused connection', async () => {
    const url = `http://127.0.0.1:${await closedPort()}/`
    const { pacer, client, bare } = paced(adapter)
    const expected = await bare.get(url).catch((error) => error)
    const error = await client.get(url).catch((error) => error)
    expect(error).toBeInstanceOf(axios.AxiosError)
    expect([error.code, error.message]).toEqual([expected.code, expected.message])
    expect(error.cause?.constructor).toBe(expected.cause?.constructor)
    expect(Object.keys(error.config).sort()).toEqual(Object.keys(expected.config).sort())
    expect(pacer.waits[0]?.outcome?.error).toBe(error)
    expect(pacer.waits[0]?.sentAtMs === undefined).toBe(adapter === 'http')
  })

  test('a connection that is reset', async () => {
    const a = await serve((request) => request.socket.destroy())
    const { pacer, client, bare } = paced(adapter)
    const expected = await bare.get(a.origin).catch((error) => error)
    const error = await client.get(a.origin).catch((error) => error)
    expect([error.code, error.message]).toEqual([expected.code, expected.message])
    expect(pacer.waits[0]?.outcome?.error).toBe(error)
    expect(pacer.states).toEqual(['over'])
  })

  test('a body that breaks off is observed once, by its status', async () => {
    const a = await serve((request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half')
      setTimeout(() => request.socket.destroy(), 20)
    })
    const { pacer, client, bare } = paced(adapter)
    const expected = await bare.get(a.origin).catch((error) => error)
    const error = await client.get(a.origin).catch((error) => error)
    expect([error.code, error.message]).toEqual([expected.code, expected.message])
    expect(pacer.statuses).toEqual([200])
    expect(pacer.waits[0]?.outcome).toBeUndefined()
    expect(pacer.states).toEqual(['over'])
  })
})

test('the options and the data of axios come back as they were', async () => {
  const a = await serve()
  const { client } = paced('http')
  const { config } = await client.post(a.origin, { n: 1 }, { httpAgent: undefined, timeout: 500 })
  expect(config.adapter).toBe('http')
  expect(config.beforeRedirect).toBeUndefined()
  expect('httpsAgent' in config).toBe(false)
  const fetched = await paced('fetch').client.get(a.origin, { timeout: 500 })
  expect(fetched.config.timeout).toBe(500)
  expect('fetchOptions' in fetched.config).toBe(false)
  expect('signal' in fetched.config).toBe(false)
})
