import http from 'node:http'
import https from 'node:https'
import type { Readable } from 'node:stream'
import { Readable as NodeReadable } from 'node:stream'
import { pace } from '@hostpace/axios'
import type { Pacer } from '@hostpace/core'
import type { AdapterDriver, DriverRequest, PacedClient } from '@hostpace/core/testing'
import axios, { type AxiosInstance, type AxiosRequestConfig } from 'axios'
import axiosRetry, { retryAfter } from 'axios-retry'

/** How the adapter suite drives axios, by one of its adapters. */
export function axiosDriver(adapter: 'http' | 'fetch'): AdapterDriver {
  return {
    name: `axios ${axios.VERSION} (${adapter})`,
    create: (...pacers) => createClient(adapter, pacers),
    isAbort: (error) => axios.isCancel(error) && error.code === 'ERR_CANCELED',
    isClientError: (error) => error instanceof axios.AxiosError,
    causeOf: (error) => (error as Error).cause,
    lacks: new Set(['cache']),
  }
}

function createClient(adapter: 'http' | 'fetch', pacers: Pacer[]): PacedClient {
  const httpAgent = new http.Agent({ keepAlive: true })
  const httpsAgent = new https.Agent({ keepAlive: true, rejectUnauthorized: false })
  const client: AxiosInstance = axios.create({ adapter, httpAgent, httpsAgent, proxy: false, responseType: 'text' })
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
    async close() {
      httpAgent.destroy()
      httpsAgent.destroy()
    },
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
