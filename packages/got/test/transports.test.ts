import { once } from 'node:events'
import { Agent, createServer, type RequestOptions, request as send } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import { connect, createServer as createNetServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { testCertificate as certificate } from '@hostpace/core/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { arrivals, hits, listen, pacedGot, serve, serveTls, trusted } from './paced-got.ts'

describe('the interval counts from when a request is on the wire', () => {
  test('not from when its address was asked for', async () => {
    const site = await serve()
    let answer = () => {}
    const dnsLookup = (_host: string, _options: unknown, callback: (...args: unknown[]) => void) => {
      answer = () => callback(null, [{ address: '127.0.0.1', family: 4 }])
    }
    const { client, run, clock, waiting } = pacedGot({ intervalMs: 1000 })
    const origin = site.origin.replace('127.0.0.1', 'localhost')
    const first = client(origin, { dnsLookup: dnsLookup as never })
    await run(700)
    answer()
    await first
    const second = client(origin)
    await waiting(1)
    await run(999)
    expect(site.paths).toHaveLength(1)
    await clock.advanceAsync(1)
    await second
  })

  test.each([
    ['TLS', () => new TlsAgent({ keepAlive: true })],
    ['TLS over a connection that stands', tlsOverStanding],
  ])('not from when a handshake began (%s)', async (_name, createAgent) => {
    const site = await serveTls()
    const sockets: Socket[] = []
    const port = await listen(createNetServer((socket) => void sockets.push(socket)))
    const origin = `https://127.0.0.1:${port}`
    const agent = createAgent()
    onTestFinished(() => agent.destroy())
    const { client, run, waiting } = pacedGot({ intervalMs: 1000 }, { ...trusted, agent: { https: agent } })
    const first = client(origin)
    await vi.waitFor(() => expect(sockets).toHaveLength(1))
    await run(700)
    pipe(sockets, site.origin)
    await first
    const second = client(origin)
    await waiting(1)
    await run(999)
    expect(site.paths).toHaveLength(1)
    await run(1)
    await second
  })

  test.each([
    ['http', serve, new Agent({ keepAlive: true })],
    ['https', serveTls, new TlsAgent({ keepAlive: true })],
  ] as const)('at once on a connection that stands (%s), with no answer yet', async (scheme, open, agent) => {
    const site = await open((request, response) => {
      if (request.url !== '/hang') response.end('ok')
    })
    onTestFinished(() => agent.destroy())
    const { client, run, departures, waiting } = pacedGot(
      { intervalMs: 1000 },
      { ...trusted, agent: { [scheme]: agent } },
    )
    await client(site.origin)
    const controller = new AbortController()
    const { signal } = controller
    client(`${site.origin}/hang`, { signal }).catch(() => {})
    await waiting(1)
    await run(1000)
    await hits(site, 2)
    const third = client(site.origin)
    await waiting(1)
    await run(999)
    expect(departures(site.origin)).toBe(2)
    await run(1)
    await third
    expect(departures(site.origin)).toBe(3)
    controller.abort()
  })
})

test('a request that a function of the user hands over late has left', async () => {
  const site = await serve()
  const late = async (url: URL, options: RequestOptions) => {
    const request = send(url, options)
    await once(request, 'socket')
    return request
  }
  const { client, waiting, run } = pacedGot({ intervalMs: 1000 }, { request: late as never })
  await client(site.origin)
  const second = client(site.origin)
  await waiting(1)
  await run(999)
  expect(site.paths).toHaveLength(1)
  await run(1)
  await second
})

test('the time to the first byte begins when the request is on the wire', async () => {
  const site = await serve()
  const connectMs = 500
  const dnsLookup = (_host: string, _options: unknown, callback: (...args: unknown[]) => void) =>
    void setTimeout(callback, connectMs, null, [{ address: '127.0.0.1', family: 4 }])
  const { client, pacer } = pacedGot({ rate: 10 })
  const latencies: unknown[] = []
  pacer.on('observe', ({ latencyMs }) => void latencies.push(latencyMs))
  await client(site.origin.replace('127.0.0.1', 'localhost'), { dnsLookup: dnsLookup as never })
  expect(latencies).toEqual([expect.any(Number)])
  expect(latencies[0]).toBeLessThan(connectMs)
})

test('an answer that is over frees the permit even while the upload goes on', async () => {
  const site = await serve()
  const { client, pacer } = pacedGot({ rate: 10, concurrency: 1 })
  const stream = client.stream.post(site.origin)
  stream.write('so far')
  await once(stream.resume(), 'end')
  await arrivals()
  expect(pacer.stats().total.inFlight).toBe(0)
  stream.on('error', () => {})
  stream.destroy()
})

test('a unix socket takes no slot, unless it is given a key', async () => {
  const path = join(tmpdir(), `hostpace-got-${process.pid}.sock`)
  const server: Server = createServer((_request, response) => response.end('by socket')).listen(path)
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { pacer, client, departures } = pacedGot({ intervalMs: 1000 }, { enableUnixSockets: true })
  expect(await client(`unix:${path}:/x`).text()).toBe('by socket')
  expect(await client(`http://unix:${path}:/x`).text()).toBe('by socket')
  expect(pacer.stats().total.departures).toBe(0)
  await client(`unix:${path}:/x`, { context: { hostpace: { key: 'local' } } })
  expect(departures('local')).toBe(1)
})

/** Joins the last connection with a server. */
function pipe(sockets: Socket[], origin: string): void {
  const socket = sockets.at(-1) as Socket
  const target = connect(Number(new URL(origin).port), '127.0.0.1')
  socket.pipe(target).pipe(socket)
  for (const end of [socket, target]) end.on('error', () => {})
}

/** An agent that connects first and then begins with TLS. */
function tlsOverStanding(): TlsAgent {
  const createConnection = ({ port }: { port: number }, done: (error: Error | null, socket?: Socket) => void) => {
    const socket = connect(port, '127.0.0.1', () => done(null, connectTls({ socket, ca: certificate.cert })))
  }
  return Object.assign(new TlsAgent({ keepAlive: true }), { createConnection })
}
