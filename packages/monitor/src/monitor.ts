import type { Pacer } from '@hostpace/core'
import { type MonitorOptions, readOptions } from './monitor-options.ts'
import { makePage } from './page.ts'
import type { Outlet } from './viewer.ts'
import { Watch } from './watch.ts'

/** As much of a request of `node:http`, Express or Fastify (`request.raw`) as is used. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
}

/** As much of a response of `node:http`, Express or Fastify (`reply.raw`) as is used. */
export interface NodeResponse {
  readonly writableNeedDrain: boolean
  writeHead(status: number, headers: Record<string, string>): unknown
  write(text: string): unknown
  end(text?: string): unknown
  on(event: 'close', listener: () => void): unknown
}

/** A page about a pacer, to be mounted under any path. */
export interface Monitor {
  /** Answers a request of `node:http` and of what is built on it. */
  readonly node: (request: NodeRequest, response: NodeResponse) => void
  /** Answers a `Request`, as Hono and other runtimes have it. */
  readonly fetch: (request: Request) => Promise<Response>
  /** Ends the updates of all who look on, so that their connections do not keep a server open. Safe to call twice. */
  close(): void
}

const eventHeaders = {
  'content-type': 'text/event-stream',
  // Middleware that compresses would hold updates back.
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
}

/**
 * Makes a live page about a pacer: hosts, queues, waits by layer, holds and their reasons, what was learned, departures.
 *
 * ```ts
 * createServer(createMonitor(pacer).node).listen(8080, '127.0.0.1')
 * ```
 *
 * It opens no port. Whoever can ask for the page sees which hosts the program visits, so mount it behind what guards your
 * other internal pages. As long as nobody looks on, it listens to nothing.
 *
 * @throws {PolicyError} if an option makes no sense; its `path` names it
 * @throws {TypeError} if `pacer` is no pacer
 */
export function createMonitor(pacer: Pacer, options: MonitorOptions = {}): Monitor {
  if (typeof pacer?.stats !== 'function') throw new TypeError('pacer must be what createPacer gave')
  const { intervalMs, maxHosts } = readOptions(options)
  const watch = new Watch(pacer, intervalMs, maxHosts)
  return {
    node: (request, response) => void answerNode(watch, request, response),
    fetch: (request) => answerFetch(watch, request),
    close: () => watch.close(),
  }
}

async function answerNode(watch: Watch, { method, url }: NodeRequest, response: NodeResponse): Promise<void> {
  if (!wantsEvents(method, url)) {
    const { status, headers, body } = await answerTo(method)
    response.writeHead(status, headers)
    response.end(body)
    return
  }
  response.writeHead(200, eventHeaders)
  const outlet: Outlet = {
    get isReady() {
      return !response.writableNeedDrain
    },
    write: (text) => void response.write(text),
    end: () => void response.end(),
  }
  response.on('close', watch.join(outlet))
}

async function answerFetch(watch: Watch, { method, url }: Request): Promise<Response> {
  if (wantsEvents(method, url)) return new Response(eventStream(watch), { headers: eventHeaders })
  const { status, headers, body } = await answerTo(method)
  return new Response(method === 'HEAD' ? null : body, { status, headers })
}

function eventStream(watch: Watch): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let leave: (() => void) | undefined
  return new ReadableStream({
    start(controller) {
      leave = watch.join({
        get isReady() {
          return (controller.desiredSize ?? 0) > 0
        },
        write: (text) => controller.enqueue(encoder.encode(text)),
        end: () => controller.close(),
      })
    },
    cancel: () => leave?.(),
  })
}

/** One address serves all, so that the page needs not know under which path it is mounted. */
function wantsEvents(method: string | undefined, url = '/'): boolean {
  return method === 'GET' && new URL(url, 'http://localhost').searchParams.has('events')
}

async function answerTo(
  method: string | undefined,
): Promise<{ status: number; headers: Record<string, string>; body: string }> {
  if (method === 'GET' || method === 'HEAD') return { status: 200, ...(await makePage()) }
  return { status: 405, headers: { allow: 'GET, HEAD', 'content-type': 'text/plain' }, body: 'GET or HEAD only\n' }
}
