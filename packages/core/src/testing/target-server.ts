import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { constants, createSecureServer, type ServerHttp2Stream } from 'node:http2'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { testCertificate } from './test-certificate.ts'
import { type Transport, usesTls } from './transport.ts'

/** One request as the server saw it. */
export interface Hit {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: IncomingMessage['headers']
  /** `1.1` or `2.0`. */
  readonly httpVersion: string
  /** The port that the connection came from. */
  readonly clientPort: number | undefined
  /** When its headers came in, in milliseconds of `performance.now()`. */
  readonly atMs: number
}

/** A server on loopback that writes down who came. */
export interface Target {
  readonly origin: string
  readonly hits: readonly Hit[]
  /** The paths that were asked for, in order. */
  readonly paths: string[]
  /** How many connections were made to it so far. */
  readonly connections: number
  /** The URL of a route of this server. */
  url(route: string, query?: Record<string, string | number>): string
  /** Ends the answers of `/slow-body`. */
  finish(): void
  /** Stops the server and drops its connections. */
  close(): Promise<void>
}

/** What a route answers. `nth` counts, from 1, how often this very path and query was asked for. */
type Route = (query: URLSearchParams, response: ServerResponse, request: IncomingMessage, nth: number) => void

/** What `/echo` answers about the body it was sent. */
export interface Echo {
  readonly bytes: number
  readonly sha256: string
}

const ok: Route = (_query, response) => response.end('ok')

/** Every other path is answered `ok`. */
const routes: Record<string, Route> = {
  '/empty': (_query, response) => response.writeHead(204).end(),
  '/hang': () => {},
  '/reset': (_query, response) => breakOff(response),
  '/status': (query, response) => response.writeHead(Number(query.get('code'))).end('no'),

  /** `to`, `status`, and `after` for a `Retry-After`. */
  '/redirect': (query, response) => {
    response.writeHead(Number(query.get('status') ?? 302), { location: query.get('to') ?? '/ok', ...retryAfter(query) })
    response.end('moved')
  },

  /** Refuses with `code` (429) the first `times` (1), with `after` as `Retry-After`; then it is well again. */
  '/limited': (query, response, _request, nth) => {
    if (nth > Number(query.get('times') ?? 1)) response.end('ok')
    else response.writeHead(Number(query.get('code') ?? 429), retryAfter(query)).end('slow down')
  },

  '/echo': (_query, response, request) => {
    const hash = createHash('sha256')
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      hash.update(chunk)
    })
    request.on('end', () => response.end(JSON.stringify({ bytes, sha256: hash.digest('hex') } satisfies Echo)))
  },

  '/big': (query, response) => response.end(Buffer.alloc(Number(query.get('bytes')), 'hostpace')),

  /** Announces more than it sends. */
  '/cut': (_query, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('half', () => setTimeout(() => breakOff(response), 5))
  },
}

/** Drops the connection; over HTTP/2, which others share, the stream. */
function breakOff(response: ServerResponse & { stream?: ServerHttp2Stream }): void {
  if (response.stream) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  else response.socket?.destroy()
}

function retryAfter(query: URLSearchParams): Record<string, string> {
  const after = query.get('after')
  return after === null ? {} : { 'retry-after': after }
}

/** Starts a server on a free port of 127.0.0.1 that can be reached over `transport`. */
export async function startTarget(transport: Transport = 'HTTP/1.1'): Promise<Target> {
  const sockets = new Set<Socket>()
  const hits: Hit[] = []
  const unfinished = new Set<ServerResponse>()
  const visits = new Map<string, number>()

  const server = createServerFor(transport, (request, response) => {
    const { method = '', url: path = '', headers, httpVersion, socket } = request
    hits.push({ method, path, headers, httpVersion, clientPort: socket.remotePort, atMs: performance.now() })
    const nth = (visits.get(path) ?? 0) + 1
    visits.set(path, nth)
    const { pathname, searchParams } = new URL(path, 'http://target')
    if (pathname === '/slow-body') {
      response.write('first, ')
      unfinished.add(response)
      return
    }
    const route = routes[pathname] ?? ok
    if (pathname !== '/echo') request.resume()
    route(searchParams, response, request, nth)
  })
  server.on('connection', (socket) => void sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `${usesTls(transport) ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    origin,
    hits,
    get paths() {
      return hits.map(({ path }) => path)
    },
    get connections() {
      return sockets.size
    },
    url(route, query) {
      const search = query === undefined ? '' : `?${new URLSearchParams(mapValues(query))}`
      return `${origin}${route}${search}`
    },
    finish() {
      for (const response of unfinished) response.end('last')
      unfinished.clear()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function createServerFor(transport: Transport, listener: RequestListener): Server {
  if (!usesTls(transport)) return createServer(listener)
  if (transport !== 'HTTP/2') return createTlsServer(testCertificate, listener)
  // Its requests and responses are those of node:http in all that is used here.
  return createSecureServer(testCertificate, listener as never) as unknown as Server
}

function mapValues(query: Record<string, string | number>): Record<string, string> {
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]))
}
