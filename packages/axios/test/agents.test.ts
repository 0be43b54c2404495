import http, { createServer } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import https from 'node:https'
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net'
import { pace } from '@hostpace/axios'
import { testCertificate } from '@hostpace/core/testing'
import axios, { type AxiosRequestConfig } from 'axios'
import { describe, expect, onTestFinished, test } from 'vitest'
import { RecordingPacer } from './support/recording-pacer.ts'
import { redirectTo, serve, sleep } from './support/server.ts'

function paced(defaults: AxiosRequestConfig = {}) {
  const pacer = new RecordingPacer()
  const client = axios.create({ adapter: 'http', ...defaults } as object)
  pace(client, pacer.asPacer)
  return { pacer, client }
}

/** By name, because Node refuses to tell a server an address as its name. */
const serveTls: typeof serve = (handler) =>
  serve(
    handler,
    (listener) => https.createServer(testCertificate, listener) as unknown as http.Server,
    'https://localhost',
  )

/** An http proxy that writes down what it is asked for. */
async function serveProxy(): Promise<{ port: number; asked: string[] }> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    const { method, headers } = request
    http
      .request(request.url ?? '', { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(response)
      })
      .end()
  })
  server.on('connect', (request, socket) => {
    asked.push(`CONNECT ${request.url}`)
    const port = Number(String(request.url).split(':')[1])
    const target = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      target.pipe(socket).pipe(target)
    })
    target.on('error', () => socket.destroy())
    socket.on('error', () => target.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { port: (server.address() as AddressInfo).port, asked }
}

describe('what the http adapter sends by', () => {
  test('a permit is sent when the connection stands, not when it is begun', async () => {
    const a = await serve()
    let connected: () => void = () => {}
    const waiting = new Promise<void>((resolve) => {
      connected = resolve
    })
    const httpAgent = new http.Agent({
      lookup: (_host, _options, callback) => {
        void waiting.then(() => callback(null, [{ address: '127.0.0.1', family: 4 }] as never))
      },
    })
    const { pacer, client } = paced({ httpAgent, proxy: false })
    const sending = client.get(a.origin.replace('127.0.0.1', 'slow.test'))
    await sleep(60)
    expect(pacer.states).toEqual(['granted'])
    connected()
    await sending
    expect(pacer.states).toEqual(['over'])
    expect(pacer.waits[0]?.observed[0]?.latencyMs).toBeLessThan(60)
  })

  test('an abort before the connection stands gives the place back', async () => {
    const httpAgent = new http.Agent({ lookup: () => {} })
    const { pacer, client } = paced({ httpAgent, proxy: false })
    const controller = new AbortController()
    const sending = client.get('http://slow.test/', { signal: controller.signal }).catch((error) => error)
    await sleep(20)
    controller.abort()
    expect(axios.isCancel(await sending)).toBe(true)
    expect(pacer.states).toEqual(['given back'])
  })

  test('over TLS a permit is sent once the handshake is done', async () => {
    const server = createTcpServer(() => {})
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { pacer, client } = paced({ proxy: false })
    const controller = new AbortController()
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const sending = client.get(url, { signal: controller.signal }).catch((error) => error)
    await sleep(60)
    expect(pacer.states).toEqual(['granted'])
    controller.abort()
    await sending
    expect(pacer.states).toEqual(['given back'])
  })

  test('an agent that keeps connections keeps them, and is the agent of the request', async () => {
    const b = await serve()
    const a = await serve((request, response, nth) =>
      request.url === '/r' ? redirectTo(`${b.origin}/x`)(request, response, nth) : response.end('ok'),
    )
    const httpAgent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => httpAgent.destroy())
    const { pacer, client } = paced({ httpAgent, proxy: false })
    for (let times = 0; times < 3; times++) {
      const { request } = await client.get(`${a.origin}/r`)
      expect(request.agent).toBe(httpAgent)
      await client.get(`${b.origin}/y`)
    }
    await sleep(5)
    expect(pacer.waits).toHaveLength(9)
    expect(Object.values(httpAgent.freeSockets).flat()).toHaveLength(1)
    expect(Object.values(httpAgent.sockets).flat()).toHaveLength(0)
    expect(httpAgent.requests).toEqual({})
  })

  test('an agent with private members works, and so does none', async () => {
    class PrivateAgent extends http.Agent {
      #name = 'private'
      get protocol(): string {
        return this.#name === '' ? 'none:' : 'http:'
      }
      set protocol(_value: string) {}
    }
    const b = await serve()
    const a = await serve(redirectTo(`${b.origin}/x`))
    const { pacer, client } = paced({ proxy: false })
    await client.get(a.origin, { httpAgent: new PrivateAgent() })
    await client.get(a.origin, { httpAgent: false })
    expect(pacer.origins).toEqual([a.origin, b.origin, a.origin, b.origin])
    expect(pacer.statuses).toEqual([302, 200, 302, 200])
  })

  test('an agent that throws at a redirect fails the request', async () => {
    const a = await serve(redirectTo('/x'))
    let requests = 0
    const httpAgent = new (class extends http.Agent {
      addRequest(...args: unknown[]): void {
        if (++requests === 2) throw new Error('no more')
        Reflect.get(http.Agent.prototype, 'addRequest').apply(this, args)
      }
    })()
    const { pacer, client } = paced({ httpAgent, proxy: false })
    const error = await client.get(a.origin).catch((error) => error)
    expect(axios.isAxiosError(error)).toBe(true)
    expect(error.message).toBe('no more')
    expect(pacer.states).toEqual(['over', 'over'])
  })

  test('http to https and back, over TLS', async () => {
    const a = await serve((request, response, nth) =>
      request.url === '/r' ? redirectTo(`${b.origin}/x`)(request, response, nth) : response.end('home'),
    )
    const b = await serveTls(redirectTo(() => `${a.origin}/ok`))
    const httpsAgent = new https.Agent({ rejectUnauthorized: false })
    const { pacer, client } = paced({ httpsAgent, proxy: false })
    expect((await client.get(`${a.origin}/r`)).data).toBe('home')
    expect(pacer.origins).toEqual([a.origin, b.origin, a.origin])
    expect(pacer.statuses).toEqual([302, 302, 200])
    expect((await client.get(`${b.origin}/x`)).data).toBe('home')
    expect(pacer.states.every((state) => state === 'over')).toBe(true)
  })
})

describe('acceptance 20: proxies', () => {
  test('the key is the target, also of redirects', async () => {
    const proxy = await serveProxy()
    const b = await serve()
    const a = await serve(redirectTo(`${b.origin}/x`))
    const { pacer, client } = paced({ proxy: { host: '127.0.0.1', port: proxy.port } })
    await client.get(`${a.origin}/r`)
    expect(proxy.asked).toEqual([`GET ${a.origin}/r`, `GET ${b.origin}/x`])
    expect(pacer.origins).toEqual([a.origin, b.origin])
    expect(pacer.statuses).toEqual([302, 200])
  })

  test('a tunnel adds no charge, and its redirects are paced', async () => {
    const proxy = await serveProxy()
    const b = await serveTls()
    const a = await serveTls(redirectTo(() => `${b.origin}/x`))
    const httpsAgent = new https.Agent({ rejectUnauthorized: false })
    const { pacer, client } = paced({ httpsAgent, proxy: { host: '127.0.0.1', port: proxy.port } })
    pacer.holds = (_url, nth) => nth === 1
    const sending = client.get(`${a.origin}/r`)
    const second = await pacer.nth(1)
    await sleep(20)
    expect(proxy.asked).toHaveLength(1)
    second.grant()
    expect((await sending).data).toBe('ok')
    expect(proxy.asked.map((line) => `https://${line.slice(8)}`)).toEqual([a.origin, b.origin])
    expect(pacer.origins).toEqual([a.origin, b.origin])
    expect(pacer.statuses).toEqual([302, 200])
    expect(pacer.states).toEqual(['over', 'over'])
  })

  test('a proxy of the environment, and its exceptions', async () => {
    const proxy = await serveProxy()
    const a = await serveTls()
    process.env.https_proxy = `http://127.0.0.1:${proxy.port}`
    onTestFinished(() => void delete process.env.https_proxy)
    const { pacer, client } = paced({ httpsAgent: new https.Agent({ rejectUnauthorized: false }) })
    const { request } = await client.get(a.origin)
    expect((await client.get(a.origin)).request.agent).toBe(request.agent)
    expect(proxy.asked).toHaveLength(2)
    process.env.no_proxy = 'localhost'
    onTestFinished(() => void delete process.env.no_proxy)
    await client.get(a.origin)
    expect(proxy.asked).toHaveLength(2)
    expect(pacer.statuses).toEqual([200, 200, 200])
  })
})

test('a transport of the caller is kept; its requests are seen through the agent', async () => {
  const a = await serve(redirectTo('/elsewhere'))
  const { pacer, client } = paced({ proxy: false })
  let calls = 0
  const transport = {
    request(...args: Parameters<typeof http.request>) {
      calls++
      return http.request(...args)
    },
  }
  const response = await client.get(a.origin, { transport, validateStatus: null })
  expect(response.status).toBe(302)
  expect(calls).toBe(1)
  expect(pacer.statuses).toEqual([302])
})

test('acceptance 32: HTTP/2 is paced and observed', async () => {
  const server = createHttp2Server((_request, response) => response.end('two'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const { pacer, client } = paced({ proxy: false, httpVersion: 2, http2Options: { sessionTimeout: 50 } })
  const url = `http://127.0.0.1:${port}/`
  expect((await client.get(url)).data).toBe('two')
  expect(pacer.origins).toEqual([new URL(url).origin])
  expect(pacer.statuses).toEqual([200])
  expect(pacer.states).toEqual(['over'])
})
