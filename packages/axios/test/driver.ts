import http from 'node:http'
import https from 'node:https'
import type { Readable } from 'node:stream'
import { Readable as NodeReadable } from 'node:stream'
import { pace } from '@hostpace/axios'
import type { Pacer } from '@hostpace/core'
import {
  type AdapterDriver,
  type Connection,
  type DriverRequest,
  type PacedClient,
  type Transport,
  testCertificate,
} from '@hostpace/core/testing'
import axios, { type AxiosInstance, type AxiosRequestConfig } from 'axios'
import axiosRetry, { retryAfter } from 'axios-retry'
import { Agent, ProxyAgent, Request, Response, fetch as undiciFetch } from 'undici'

/** How the adapter suite drives axios, by one of its adapters. */
export function axiosDriver(adapter: 'http' | 'fetch'): AdapterDriver {
  return {
    name: `axios ${axios.VERSION} (${adapter})`,
    transports: transportsOf(adapter),
    create: (pacers, connection) => createClient(adapter, pacers, connection),
    isAbort: (error) => axios.isCancel(error) && error.code === 'ERR_CANCELED',
    isClientError: (error) => error instanceof axios.AxiosError,
    causeOf: (error) => (error as Error).cause,
    lacks: new Set(['cache']),
    // axios follows no redirects there.
    lacksOver: adapter === 'http' ? { 'HTTP/2': new Set(['redirect']) } : {},
  }
}

/**
 * What the http adapter can do came by and by: HTTP/2 with axios 1.13, tunnels with 1.16.1 (before that it asked a
 * proxy for `https:` URLs in plain), and with 1.17 the agent's TLS options inside of them.
 */
function transportsOf(adapter: 'http' | 'fetch'): Transport[] {
  const minor = adapter === 'fetch' ? Number.POSITIVE_INFINITY : Number(axios.VERSION.split('.')[1])
  const since: [Transport, number][] = [
    ['HTTP/1.1', 0],
    ['TLS', 0],
    ['HTTP/2', 13],
    ['proxy', 0],
    ['tunnel', 17],
  ]
  return since.flatMap(([transport, first]) => (minor >= first ? [transport] : []))
}

function createClient(adapter: 'http' | 'fetch', pacers: readonly Pacer[], connection: Connection): PacedClient {
  const network = adapter === 'http' ? forHttp(connection) : forFetch(connection)
  const client: AxiosInstance = axios.create({ adapter, ...network.config, responseType: 'text' })
  axiosRetry(client, {
    retries: 0,
    retryCondition: ({ response }) => response?.status === 429 || response?.status === 503,
    retryDelay: (_nth, error) => Math.max(5, retryAfter(error)),
  })
  for (const pacer of pacers) pace(client, pacer)
  return {
    async send(request) {
      const { status, headers, data } = await client.request<string>(configFor(request))
      return { status, headers: { ...headers } as Record<string, string>, body: data }
    },
    async open(request) {
      const { data } = await client.request({ ...configFor(request), responseType: 'stream' })
      return data instanceof NodeReadable ? data : NodeReadable.fromWeb(data)
    },
    installAgain() {
      for (const pacer of pacers) pace(client, pacer)
    },
    close: network.close,
  }
}

/** How axios is told of the network, and how that is closed. */
interface Network {
  config: AxiosRequestConfig
  close(): Promise<void>
}

function forHttp({ transport, proxyUrl }: Connection): Network {
  const ca = testCertificate.cert
  const httpAgent = new http.Agent({ keepAlive: true })
  const httpsAgent = new https.Agent({ keepAlive: true, ca })
  const proxy = proxyUrl === undefined ? undefined : new URL(proxyUrl)
  return {
    config: {
      httpAgent,
      httpsAgent,
      proxy: proxy ? { protocol: 'http:', host: proxy.hostname, port: Number(proxy.port) } : false,
      ...(transport === 'HTTP/2' && { httpVersion: 2, http2Options: { ca } }),
    },
    async close() {
      httpAgent.destroy()
      httpsAgent.destroy()
    },
  }
}

/** The fetch of Node takes what lies beyond plain HTTP only from a dispatcher of its own undici, so that of undici is used there. */
function forFetch({ transport, proxyUrl }: Connection): Network {
  if (transport === 'HTTP/1.1') return { config: {}, close: async () => {} }
  const tls = { ca: testCertificate.cert }
  const dispatcher =
    proxyUrl === undefined
      ? new Agent({ connect: tls, allowH2: transport === 'HTTP/2' })
      : new ProxyAgent({ uri: proxyUrl, requestTls: tls, proxyTunnel: transport === 'tunnel' })
  return {
    config: { env: { fetch: undiciFetch, Request, Response } as object, fetchOptions: { dispatcher } as object },
    close: () => dispatcher.destroy(),
  }
}

function configFor(request: DriverRequest): AxiosRequestConfig {
  const { url, method, headers, body, signal, timeoutMs, retries, followRedirects, ...hostpace } = request
  return {
    url,
    hostpace,
    ...(method && { method }),
    ...(headers && { headers }),
    ...(body !== undefined && { data: body as string | Readable }),
    ...(signal && { signal }),
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
    ...(retries !== undefined && { 'axios-retry': { retries } }),
    ...(followRedirects === false && { maxRedirects: 0 }),
  }
}
