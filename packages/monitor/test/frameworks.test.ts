import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { createPacer } from '@hostpace/core'
import { createMonitor, type Monitor } from '@hostpace/monitor'
import express from 'express'
import express4 from 'express4'
import fastify from 'fastify'
import { Hono } from 'hono'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { countListeners, Viewing } from './viewing.ts'

/** How the monitor is mounted at `/ops/pace` in each, as its README says. */
const mounts: Readonly<Record<string, (monitor: Monitor) => Promise<Server>>> = {
  'node:http': async (monitor) =>
    createServer((request, response) => {
      if (request.url?.startsWith('/ops/pace') === true) monitor.node(request, response)
      else response.writeHead(404).end()
    }),
  express: async (monitor) => {
    const app = express()
    app.use('/ops/pace', monitor.node)
    return createServer(app)
  },
  'express 4': async (monitor) => {
    const app = express4()
    app.use('/ops/pace', monitor.node)
    return createServer(app)
  },
  fastify: async (monitor) => {
    const app = fastify()
    app.get('/ops/pace', (request, reply) => {
      reply.hijack()
      monitor.node(request.raw, reply.raw)
    })
    await app.ready()
    return app.server
  },
  hono: async (monitor) => {
    const app = new Hono()
    app.get('/ops/pace', (c) => monitor.fetch(c.req.raw))
    return createAdaptorServer({ fetch: app.fetch }) as Server
  },
}

describe.each(Object.entries(mounts))('mounted in %s', (_, mount) => {
  test('it serves the page and its updates, and rests when the last viewer has gone', async () => {
    const pacer = createPacer({ rate: 10 })
    const listeners = countListeners(pacer)
    const monitor = createMonitor(pacer, { intervalMs: 100 })
    const server = await mount(monitor)
    onTestFinished(async () => {
      monitor.close()
      server.closeAllConnections()
      await Promise.all([pacer.close(), once(server.close(), 'close')])
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

    const page = await fetch(`${origin}/ops/pace`)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(await page.text()).toContain('<title>hostpace</title>')
    for (const address of ['/ops/pace', '/ops/pace?events']) {
      const head = await fetch(`${origin}${address}`, { method: 'HEAD' })
      expect([head.status, await head.text()]).toEqual([200, ''])
    }
    expect((await fetch(`${origin}/`)).status).toBe(404)
    expect(listeners()).toBe(0)

    const leaving = new AbortController()
    const viewing = new Viewing(await fetch(`${origin}/ops/pace?events`, { signal: leaving.signal }))
    expect(await viewing.next()).toMatchObject({ isFirst: true, hosts: 0 })
    await pacer.run('https://a.example', () => {})
    while (!viewing.rows.has('https://a.example')) await viewing.next()
    expect(listeners()).toBeGreaterThan(0)
    leaving.abort()
    await vi.waitFor(() => expect(listeners()).toBe(0), 20_000)
  })

  test('close ends the updates for good, so that the server can close', async () => {
    const pacer = createPacer({ rate: 10 })
    const monitor = createMonitor(pacer)
    const server = await mount(monitor)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ops/pace`
    const viewing = new Viewing(await fetch(`${address}?events`))
    await viewing.next()
    monitor.close()
    await expect(viewing.next()).rejects.toThrow('ended')
    for (const method of ['GET', 'HEAD']) {
      // As an EventSource does whose stream has ended.
      const again = await fetch(`${address}?events`, { method })
      expect([again.status, again.headers.get('cache-control'), await again.text()]).toEqual([204, 'no-store', ''])
      const page = await fetch(address, { method })
      const text = method === 'GET' ? 'This monitor has been closed\n' : ''
      expect([page.status, page.headers.get('cache-control'), await page.text()]).toEqual([503, 'no-store', text])
    }
    server.closeIdleConnections()
    await Promise.all([pacer.close(), once(server.close(), 'close')])
  })
})
