import type { Pacer } from '@hostpace/core'
import { type MonitorOptions, readOptions } from './monitor-options.ts'
import { makePage } from './page.ts'
import { Watch } from './watch.ts'

/** As much of a request of `node:http`, `node:http2`, Express or Fastify (`request.raw`) as is used. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
}

/** As much of a response of `node:http`, `node:http2`, Express or Fastify (`reply.raw`) as is used. */
export interface NodeResponse {
  readonly destroyed?: boolean
  /** Over HTTP/2 it is the stream that knows whether it is over. */
  readonly stream?: { readonly destroyed: boolean }
  writeHead(status: number, headers: Record<string, string>): unknown
  /** @returns whether more may be written at once; else `drain` tells when */
  write(text: string): boolean
  end(text: string): unknown
  on(event: 'close' | 'drain', listener: () => void): unknown
}

/** A page about a pacer, to be mounted under any path. */
export interface Monitor {
  /** Answers a request of `node:http`, of `node:http2` and of what is built on them. */
  readonly node: (request: NodeRequest, response: NodeResponse) => void
  /** Answers a `Request`, as Hono and other runtimes have it. */
  readonly fetch: (request: Request) => Promise<Response>
  /**
   * Ends the updates of all who look on, so that their connections do not keep a server open, for good: who asks for updates
   * later gets a 204, by which an `EventSource` gives up, and who asks for the page a 503. Safe to call twice.
   */
  close(): void
}

const eventHeaders = {
  'content-type': 'text/event-stream',
  // Middleware that compresses would hold updates back.
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
}

interface Answer {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string
}

const refusal: Answer = {
  status: 405,
  headers: { allow: 'GET, HEAD', 'content-type': 'text/plain' },
  body: 'GET or HEAD only\n',
}

/** Tells an `EventSource` not to connect again (HTML Standard, section 9.2.1). */
const noMoreEvents: Answer = { status: 204, headers: { 'cache-control': 'no-store' }, body: '' }

const noPageAnyMore: Answer = {
  status: 503,
  headers: { 'content-type': 'text/plain', 'cache-control': 'no-store' },
  body: 'This monitor has been closed\n',
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
  if (wantsEvents(watch, method, url)) return sendEvents(watch, response)
  const { status, headers, body } = await answerTo(watch, method, url)
  response.writeHead(status, headers)
  response.end(body)
}

function sendEvents(watch: Watch, response: NodeResponse): void {
  // Whoever has left before the request got here is not told of again.
  if (response.destroyed === true || response.stream?.destroyed === true) return
  response.writeHead(200, eventHeaders)
  let isReady = true
  const leave = watch.join({
    get isReady() {
      return isReady
    },
    write(text) {
      isReady = response.write(text)
    },
    end: () => void response.end(''),
  })
  response.on('drain', () => {
    isReady = true
  })
  response.on('close', leave)
}

async function answerFetch(watch: Watch, { method, url }: Request): Promise<Response> {
  if (wantsEvents(watch, method, url)) return new Response(eventStream(watch), { headers: eventHeaders })
  const { status, headers, body } = await answerTo(watch, method, url)
  return new Response(body === '' ? null : body, { status, headers })
}

/** A stream of events for whoever reads it: it joins when it is first read, and is ready when it is read again. */
function eventStream(watch: Watch): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let isReady = false
  let leave: (() => void) | undefined
  return new ReadableStream(
    {
      pull(controller) {
        isReady = true
        leave ??= watch.join({
          get isReady() {
            return isReady
          },
          write(text) {
            isReady = false
            controller.enqueue(encoder.encode(text))
          },
          end: () => controller.close(),
        })
      },
      cancel: () => leave?.(),
    },
    { highWaterMark: 0 },
  )
}

/** One address serves all, so that the page needs not know under which path it is mounted. */
function isForEvents(url = ''): boolean {
  // A request may ask for what is no URL, such as `//`.
  return new URLSearchParams(/\?([^#]*)/.exec(url)?.[1]).has('events')
}

function wantsEvents(watch: Watch, method: string | undefined, url: string | undefined): boolean {
  return method === 'GET' && isForEvents(url) && !watch.isClosed
}

/** The answer to whatever else is asked for. */
async function answerTo(watch: Watch, method: string | undefined, url: string | undefined): Promise<Answer> {
  if (method !== 'GET' && method !== 'HEAD') return refusal
  const answer = watch.isClosed ? answerAfterEnd(url) : await answerOfPage(url)
  return method === 'HEAD' ? { ...answer, body: '' } : answer
}

function answerAfterEnd(url: string | undefined): Answer {
  return isForEvents(url) ? noMoreEvents : noPageAnyMore
}

async function answerOfPage(url: string | undefined): Promise<Answer> {
  if (isForEvents(url)) return { status: 200, headers: eventHeaders, body: '' }
  return { status: 200, ...(await makePage()) }
}
