import { Readable } from 'node:stream'
import { HostpaceError, type Pacer } from '@hostpace/core'
import {
  type AdapterDriver,
  type Connection,
  type DriverRequest,
  type PacedClient,
  testCertificate,
} from '@hostpace/core/testing'
import { type PacedFetch, pace } from '@hostpace/fetch'
import { Agent, type Dispatcher, ProxyAgent } from 'undici'

/** How the adapter suite drives a paced `fetch`. */
export function fetchDriver(name: string, fetch: typeof globalThis.fetch): AdapterDriver {
  return {
    name,
    transports: ['HTTP/1.1', 'TLS', 'HTTP/2', 'proxy', 'tunnel'],
    create: (pacers, connection) => createClient(withOwnSignal(fetch), pacers, dispatcherFor(connection)),
    isAbort: (error, signal) => signal.aborted && error === signal.reason,
    // Ours come through as they are.
    isClientError: (error) => error instanceof TypeError || error instanceof HostpaceError,
    causeOf: (error) => error,
    // fetch itself has no retry, cache or time-out, and reads ahead of what it uploads.
    lacks: new Set(['cache', 'cancel', 'retry', 'timeout', 'lazy-upload']),
  }
}

/** fetch leaves its listeners on a signal to the garbage collector, so the suite would count those as well as ours. */
function withOwnSignal(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return (input, init) => fetch(input, init?.signal ? { ...init, signal: AbortSignal.any([init.signal]) } : init)
}

/** What lies beyond plain HTTP is told to fetch by a dispatcher. */
function dispatcherFor({ transport, proxyUrl }: Connection): Dispatcher | undefined {
  const tls = { ca: testCertificate.cert }
  if (transport === 'HTTP/1.1') return undefined
  if (proxyUrl === undefined) return new Agent({ connect: tls, allowH2: transport === 'HTTP/2' })
  return new ProxyAgent({ uri: proxyUrl, requestTls: tls, proxyTunnel: transport === 'tunnel' })
}

function createClient(
  fetch: typeof globalThis.fetch,
  pacers: readonly Pacer[],
  dispatcher: Dispatcher | undefined,
): PacedClient {
  let paced: PacedFetch = pacers.reduce((inner: typeof fetch, pacer) => pace(inner, pacer), fetch)

  function open(asked: DriverRequest): Promise<Response> {
    const { url, method, headers, body, signal, timeoutMs: _, retries: __, followRedirects, ...hostpace } = asked
    return paced(url, {
      hostpace,
      ...(dispatcher && { dispatcher }),
      redirect: followRedirects === false ? 'manual' : 'follow',
      ...(method && { method }),
      ...(headers && { headers }),
      ...(body instanceof Readable && { body: Readable.toWeb(body), duplex: 'half' }),
      ...(typeof body === 'string' && { body }),
      ...(signal && { signal }),
    } as unknown as RequestInit)
  }

  return {
    async send(asked) {
      const response = await open(asked)
      return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() }
    },
    async open(asked) {
      const { body } = await open(asked)
      return Readable.fromWeb(body as never)
    },
    installAgain() {
      for (const pacer of pacers) paced = pace(paced, pacer)
    },
    close: async () => dispatcher?.destroy(),
  }
}
