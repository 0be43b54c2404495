import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

/** A request as a server saw it. */
export interface Hit {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: Buffer
  atMs: number
}

export interface TestServer {
  readonly origin: string
  readonly hits: Hit[]
  /** The paths that were asked for. */
  readonly paths: string[]
}

export type Handler = (request: IncomingMessage, response: ServerResponse, nth: number) => void

/** Starts a server on loopback for one test. It answers `ok`, or as `handler` does. */
export async function serve(
  handler: Handler = (_request, response) => response.end('ok'),
  make: (listener: (request: IncomingMessage, response: ServerResponse) => void) => Server = createServer,
  host = 'http://127.0.0.1',
): Promise<TestServer> {
  const hits: Hit[] = []
  const server = make((request, response) => {
    const { method = '', url = '', headers } = request
    const hit: Hit = { method, path: url, headers, body: Buffer.alloc(0), atMs: performance.now() }
    const nth = hits.push(hit) - 1
    const reading = buffer(request).catch(() => Buffer.alloc(0))
    void reading.then((body) => {
      hit.body = body
      handler(request, response, nth)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return {
    origin: `${host}:${port}`,
    hits,
    get paths() {
      return hits.map(({ path }) => path)
    },
  }
}

/** Answers with a redirect. */
export function redirectTo(location: string | (() => string), status = 302): Handler {
  return (_request, response) => {
    response.writeHead(status, { location: typeof location === 'string' ? location : location(), 'x-hop': 'yes' })
    response.end('moved')
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
