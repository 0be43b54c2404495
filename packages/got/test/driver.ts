import type { Readable } from 'node:stream'
import type { Pacer } from '@hostpace/core'
import type { AdapterDriver, DriverRequest, PacedClient } from '@hostpace/core/testing'
import { pace } from '@hostpace/got'
import { type Got, default as got, HTTPError, type OptionsInit, RequestError } from 'got'

/** How the adapter suite drives got. */
export const gotDriver: AdapterDriver = {
  name: 'got',
  create: (...pacers) => createClient(pacers),
  isAbort: (error, signal) => signal.aborted && ['AbortError', 'TimeoutError'].includes((error as Error).name),
  isClientError: (error) => error instanceof RequestError,
  causeOf: (error) => (error as Error).cause,
}

function createClient(pacers: Pacer[]): PacedClient {
  let client: Got = pacers.reduce((instance, pacer) => instance.extend(pace(pacer)), got)

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
