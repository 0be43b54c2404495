import { Agent, type ClientRequest, type RequestOptions } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import { connect } from 'node:net'
import type { Duplex, Readable } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import type { Pacer } from '@hostpace/core'
import {
  type AdapterDriver,
  type Connection,
  type DriverRequest,
  type PacedClient,
  testCertificate,
} from '@hostpace/core/testing'
import { pace } from '@hostpace/got'
import { type Got, default as got, HTTPError, type OptionsInit, RequestError } from 'got'

/** How the adapter suite drives got. */
export const gotDriver: AdapterDriver = {
  name: 'got',
  transports: ['HTTP/1.1', 'TLS', 'HTTP/2', 'proxy', 'tunnel'],
  create: createClient,
  isAbort: (error, signal) => signal.aborted && ['AbortError', 'TimeoutError'].includes((error as Error).name),
  isClientError: (error) => error instanceof RequestError,
  causeOf: (error) => (error as Error).cause,
}

function createClient(pacers: readonly Pacer[], { transport, proxyUrl }: Connection): PacedClient {
  let client: Got = pacers
    .reduce((instance, pacer) => instance.extend(pace(pacer)), got)
    .extend({
      https: { certificateAuthority: testCertificate.cert },
      http2: transport === 'HTTP/2',
      ...(proxyUrl !== undefined && { agent: { http: new ForwardAgent(proxyUrl), https: new TunnelAgent(proxyUrl) } }),
    })

  return {
    async send(asked) {
      const { statusCode, headers, body } = await client(asked.url, optionsOf(asked)).catch(answered)
      return { status: statusCode, headers, body: String(body) }
    },
    open: (asked) =>
      new Promise((resolve, reject) => {
        const stream = client.stream(asked.url, optionsOf(asked))
        stream.once('response', () => resolve(stream as unknown as Readable))
        stream.once('error', reject)
        if (!(asked.body instanceof Object)) stream.resume().pause()
      }),
    installAgain() {
      const again = pacers.map((pacer) => pace(pacer))
      client = client.extend(...again).extend({ headers: { 'x-child': '1' } }, ...again)
    },
    close: async () => {},
  }
}

function optionsOf(asked: DriverRequest): OptionsInit & { isStream?: never } {
  const { url: _, method = 'GET', headers, body, signal, timeoutMs, retries = 0, followRedirects, ...hostpace } = asked
  return {
    method: method as 'GET',
    context: { hostpace },
    throwHttpErrors: true,
    followRedirect: followRedirects ?? true,
    retry: {
      limit: retries,
      calculateDelay: ({ computedValue, retryAfter }) => (computedValue === 0 ? 0 : (retryAfter ?? 5)),
    },
    ...(headers && { headers }),
    ...(body !== undefined && { body: body as string | Readable }),
    ...(signal && { signal }),
    ...(timeoutMs !== undefined && { timeout: { request: timeoutMs } }),
  }
}

/** An HTTP error has its response; others go on. */
function answered(error: unknown): { statusCode: number; headers: HTTPError['response']['headers']; body: unknown } {
  if (error instanceof HTTPError) return error.response
  throw error
}

/** An agent as Node calls it. */
interface CallableAgent extends Agent {
  addRequest(request: ClientRequest, options: RequestOptions): void
}

/** Sends requests in plain to a proxy, in absolute form. */
class ForwardAgent extends Agent {
  readonly #proxy: URL

  constructor(proxyUrl: string) {
    super()
    this.#proxy = new URL(proxyUrl)
  }

  addRequest(request: ClientRequest, options: RequestOptions): void {
    request.path = `http://${options.host}:${options.port}${request.path}`
    const { hostname: host, port } = this.#proxy
    ;(Agent.prototype as CallableAgent).addRequest.call(this, request, { ...options, host, port })
  }
}

/** Sends requests over TLS, in a tunnel that it has a proxy open (`CONNECT`). */
class TunnelAgent extends TlsAgent {
  readonly #proxy: URL

  constructor(proxyUrl: string) {
    super()
    this.#proxy = new URL(proxyUrl)
  }

  override createConnection(options: RequestOptions, done: (error: Error | null, socket: Duplex) => void): undefined {
    const { host, port } = options
    const socket = connect(Number(this.#proxy.port), this.#proxy.hostname)
    const fail = (error: Error) => done(error, socket)
    socket.once('error', fail)
    socket.once('connect', () => socket.write(`CONNECT ${host}:${port} HTTP/1.1\r\nhost: ${host}:${port}\r\n\r\n`))
    socket.once('data', (answer) => {
      socket.off('error', fail)
      if (!answer.toString().startsWith('HTTP/1.1 200')) fail(new Error('the proxy opens no tunnel'))
      else done(null, connectTls({ socket, host: String(host), ca: testCertificate.cert }))
    })
  }
}
