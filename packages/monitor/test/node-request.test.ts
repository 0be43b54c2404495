import { once } from 'node:events'
import { createServer, request as httpRequest, type Server } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2'
import { type AddressInfo, connect, type Server as NetServer } from 'node:net'
import { createPacer, type Pacer } from '@hostpace/core'
import { createMonitor, type Monitor } from '@hostpace/monitor'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { countListeners } from './viewing.ts'

const inTime = { timeout: 20_000 }

function monitored(): { pacer: Pacer; monitor: Monitor; listeners: () => number } {
  const pacer = createPacer({ intervalMs: 3_600_000, adapt: false })
  const listeners = countListeners(pacer)
  const monitor = createMonitor(pacer, { intervalMs: 100 })
  onTestFinished(() => pacer.close())
  onTestFinished(() => monitor.close())
  return { pacer, monitor, listeners }
}

async function portOf(server: NetServer): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(async () => {
    const closed = once(server, 'close')
    server.close()
    if ('closeAllConnections' in server) (server as Server).closeAllConnections()
    await closed
  })
  return (server.address() as AddressInfo).port
}

/** Makes hosts known of which it takes more to tell than a connection holds on its way: 20 MB. */
async function knowLongNames(pacer: Pacer): Promise<void> {
  for (let host = 0; host < 200; host++) {
    await pacer.run('https://a.example', () => {}, { key: `${host} ${'x'.repeat(100_000)}` })
  }
}

describe('a request of node:http', () => {
  test.each(['//', '/?', '/%', 'http://[', '/ops?x=%E0%A4%A'])('for %s gets the page', async (target) => {
    const { monitor } = monitored()
    const port = await portOf(createServer(monitor.node))
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
    })
    let answer = ''
    for await (const chunk of socket) answer += chunk
    expect(answer).toMatch(/^HTTP\/1.1 200 .*<title>hostpace/s)
  })

  test('that was given up before the monitor heard of it brings no viewer about', async () => {
    const { monitor, listeners } = monitored()
    let handled: Promise<unknown> | undefined
    const server = createServer((request, response) => {
      // As a check of who is asking would, that takes a while.
      handled = once(response, 'close').then(() => monitor.node(request, response))
    })
    const asked = httpRequest({ port: await portOf(server), path: '/?events' }).on('error', () => {})
    asked.end()
    await once(server, 'request')
    asked.destroy()
    await handled
    expect(listeners()).toBe(0)
  })

  test('of a viewer who never reads keeps one update waiting, not more and more', async () => {
    const { pacer, monitor } = monitored()
    await knowLongNames(pacer)
    let writes = 0
    const server = createServer((request, response) => {
      const original = response.write.bind(response) as (text: string) => boolean
      response.write = ((text: string) => {
        writes++
        return original(text)
      }) as typeof response.write
      monitor.node(request, response)
    })
    const socket = connect(await portOf(server), '127.0.0.1')
    socket.write('GET /?events HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await once(server, 'request')
    const stats = vi.spyOn(pacer, 'stats')
    await vi.waitFor(() => expect(stats.mock.calls.length).toBeGreaterThan(5), inTime)
    expect(writes).toBe(1)
    socket.destroy()
  })
})

describe('a request of node:http2', () => {
  test('gets the page, its headers alone, and updates until it is given up', async () => {
    const { monitor, listeners } = monitored()
    const server = createHttp2Server(monitor.node)
    const client = connectHttp2(`http://127.0.0.1:${await portOf(server)}`)
    onTestFinished(() => client.destroy())
    const page = client.request({ ':path': '/pace' }).setEncoding('utf8')
    const [headers] = await once(page, 'response')
    expect(headers).toMatchObject({ ':status': 200, 'content-type': 'text/html; charset=utf-8' })
    let html = ''
    for await (const chunk of page) html += chunk
    expect(html).toContain('<title>hostpace')

    const head = client.request({ ':path': '/pace', ':method': 'HEAD' })
    expect((await once(head, 'response'))[0]).toMatchObject({ ':status': 200 })
    head.resume()
    await once(head, 'end')

    const events = client.request({ ':path': '/pace?events' }).setEncoding('utf8')
    expect(String(await once(events, 'data'))).toMatch(/^data: /)
    expect(listeners()).toBeGreaterThan(0)
    events.close()
    await vi.waitFor(() => expect(listeners()).toBe(0), inTime)
  })

  test('of a viewer who never reads keeps one update waiting, not more and more', async () => {
    const { pacer, monitor } = monitored()
    await knowLongNames(pacer)
    const waiting: (() => number)[] = []
    const server = createHttp2Server((request, response) => {
      waiting.push(() => response.stream.writableLength)
      monitor.node(request, response)
    })
    const client = connectHttp2(`http://127.0.0.1:${await portOf(server)}`)
    onTestFinished(() => client.destroy())
    client.request({ ':path': '/?events' }).pause()
    await once(server, 'request')
    const [bytes = () => 0] = waiting
    await vi.waitFor(() => expect(bytes()).toBeGreaterThan(1e6), inTime)
    const [before, stats] = [bytes(), vi.spyOn(pacer, 'stats')]
    await vi.waitFor(() => expect(stats.mock.calls.length).toBeGreaterThan(5), inTime)
    expect(bytes()).toBe(before)
  })
})
