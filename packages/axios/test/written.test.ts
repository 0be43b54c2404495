import { Agent } from 'node:http'
import type { Socket } from 'node:net'
import { pace } from '@hostpace/axios'
import { createPacer } from '@hostpace/core'
import axios from 'axios'
import { expect, onTestFinished, test, vi } from 'vitest'
import { serve } from './support/server.ts'

function paced(config: object) {
  const pacer = createPacer({ intervalMs: 60_000, concurrency: 1 })
  onTestFinished(() => pacer.close())
  const client = axios.create({ proxy: false, ...config })
  pace(client, pacer)
  return { pacer, client }
}

test('a request that is given up in the very turn in which it was written has been sent', async () => {
  const server = await serve()
  const controller = new AbortController()
  // As soon as what connected it has run to its end, the write among it.
  class AbortingAgent extends Agent {
    override createConnection(...args: unknown[]): Socket {
      const socket = (Agent.prototype as unknown as { createConnection(...args: unknown[]): Socket }).createConnection(
        ...args,
      )
      return socket.once('connect', () => queueMicrotask(() => controller.abort()))
    }
  }
  const { pacer, client } = paced({ adapter: 'http', httpAgent: new AbortingAgent() })
  await expect(client.get(server.origin, { signal: controller.signal })).rejects.toBeInstanceOf(axios.CanceledError)
  await vi.waitFor(() => expect(server.paths).toHaveLength(1))
  expect((await pacer.peek(server.origin)).waitMs).toBeGreaterThan(50_000)
})

test('the permit is free when a fetch is aborted whose body does not notice', async () => {
  // As Node 20 does where it is aborted between two pieces of a body of known length.
  const deafFetch = async () => new Response(new ReadableStream({ start: (body) => body.enqueue(new Uint8Array(9)) }))
  const { pacer, client } = paced({ adapter: 'fetch', env: { fetch: deafFetch } })
  const controller = new AbortController()
  void client.get('http://127.0.0.1:9/', { signal: controller.signal }).catch(() => {})
  await vi.waitFor(() => expect(pacer.stats().total.inFlight).toBe(1))
  await new Promise((resolve) => setTimeout(resolve, 20))
  controller.abort()
  expect(pacer.stats().total.inFlight).toBe(0)
})
