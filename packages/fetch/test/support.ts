import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createPacer, type Pacer, type PacerOptions } from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'
import { onTestFinished } from 'vitest'

/** A request as the server saw it. */
export interface Hit {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly atMs: number
}

export interface Server {
  readonly origin: string
  readonly hits: Hit[]
}

export type Handler = (request: IncomingMessage, response: ServerResponse, nth: number) => void

/** Starts a server for one test. It answers `ok`, or as `handler` does once the body of the request is there. */
export async function serve(handler: Handler = (_request, response) => void response.end('ok')): Promise<Server> {
  const hits: Hit[] = []
  const server = createServer(async (request, response) => {
    const { method, url: path, headers } = request
    const atMs = performance.now()
    const body = await text(request).catch(() => 'broken off')
    handler(request, response, hits.push({ method, path, headers, body, atMs }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, hits }
}

/** Answers with a redirect. */
export function redirectTo(location: string, status = 302): Handler {
  return (_request, response) => void response.writeHead(status, { location }).end('moved')
}

export interface Setting {
  clock: ManualClock
  pacer: Pacer
  /** The keys of the departures, in order. */
  departures: string[]
  /** The statuses that were observed, in order. */
  statuses: (number | undefined)[]
}

/** A pacer of one request per 1000 ms and host, on a clock that the test moves. */
export function setUp(options: PacerOptions = { intervalMs: 1000 }): Setting {
  const clock = new ManualClock()
  const pacer = createPacer({ adapt: false, clock, ...options })
  const departures: string[] = []
  const statuses: (number | undefined)[] = []
  pacer.on('depart', ({ key }) => void departures.push(key))
  pacer.on('observe', ({ status }) => void statuses.push(status))
  onTestFinished(() => pacer.close())
  return { clock, pacer, departures, statuses }
}

/** A pacer that lets everything go at once and does not learn. */
export const fast: PacerOptions = { rate: 1000, capacity: 1000, justification: 'a test' }

/** Resolves when so many requests wait. */
export async function waiting(pacer: Pacer, count: number): Promise<void> {
  while (pacer.stats().total.queued !== count) await realTime(1)
}

/** Gives whatever is on its way wrongly the time to arrive. */
export const still = (): Promise<void> => realTime(25)

export function realTime(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** What a promise rejects with; throws if it does not. */
export function failureOf(promise: Promise<unknown>): Promise<Error & { code?: unknown }> {
  return promise.then(
    () => {
      throw new Error('It should have failed')
    },
    (error) => error,
  )
}

/** A stream of one text. `cancelled` is what it was cancelled with. */
export function streamOf(chunk: string): { stream: ReadableStream<Uint8Array>; cancelled: unknown[] } {
  const cancelled: unknown[] = []
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        controller.enqueue(new TextEncoder().encode(chunk))
        controller.close()
      },
      cancel: (reason) => void cancelled.push(reason),
    },
    { highWaterMark: 0 },
  )
  return { stream, cancelled }
}
