import { handOver } from '@hostpace/core'
import type { AxiosPromise, AxiosStatic, InternalAxiosRequestConfig } from 'axios'
import { followRedirect } from './fetch-redirect.ts'
import { FetchTimeout } from './fetch-timeout.ts'
import { override } from './override.ts'
import type { Trip } from './trip.ts'

type Fetch = (request: Request, init?: RequestInit) => Promise<Response>

/** Where one call finds its own hops: the adapter hands `fetchOptions` on to `fetch`. */
type HopInit = RequestInit & { hostpace?: Fetch }

/** One function for all calls, because axios keeps an adapter for each that it has ever seen. */
const fetchByHops: Fetch = (request, init?: HopInit) => (init?.hostpace ?? globalThis.fetch)(request, init)

/**
 * Sends a request by the fetch adapter. The redirects that `fetch` would follow by itself are followed here,
 * so that each can wait for its own host. Versions of axios before 1.12 do not let their `fetch` be replaced:
 * there only the first hop is paced.
 */
export function sendByFetch(trip: Trip, root: AxiosStatic, config: InternalAxiosRequestConfig): AxiosPromise {
  const send = (config.env?.fetch ?? globalThis.fetch) as Fetch
  const timeout = new FetchTimeout(root, config)
  const hostpace: Fetch = (request, { hostpace: _, ...init }: HopInit = {}) =>
    fetchHops(trip, timeout, send, request, init, config.data)

  const restore = override(config, {
    env: { ...config.env, fetch: fetchByHops as typeof fetch },
    fetchOptions: { ...config.fetchOptions, hostpace },
    ...timeout.config,
  })
  trip.atEnd(() => timeout.stop())
  trip.hop.sent()
  return root.getAdapter('fetch', config)(config).finally(restore)
}

async function fetchHops(
  trip: Trip,
  timeout: FetchTimeout,
  send: Fetch,
  first: Request,
  init: RequestInit,
  data: unknown,
): Promise<Response> {
  const leave = (request: Request, how: RequestInit): Promise<Response> =>
    watch(
      trip,
      handOver(trip.pacers, request.url, () => send(request, how)),
    )
  if (first.redirect !== 'follow') return endAtAbort(trip, first, await leave(first, init))

  let request = first
  for (let redirects = 0; ; redirects++) {
    // A body is sent once; a copy is kept for a redirect that asks for it again, unless it is a stream.
    const spare = request.body !== null && !isStream(data) ? request.clone() : undefined
    const response = await leave(request, { ...init, redirect: 'manual' })
    const next = await followRedirect(request, response, spare, redirects)
    if (next === undefined) return endAtAbort(trip, request, response)
    const resume = timeout.pause()
    await trip.redirect(next.url, request.signal)
    resume()
    trip.hop.sent()
    request = next
  }
}

async function watch(trip: Trip, sending: Promise<Response>): Promise<Response> {
  const response = await sending
  trip.hop.answered(response.status, response.headers)
  return response
}

/**
 * Ends the trip when the last request is aborted, whether or not its body notices: the fetch of Node 20 may leave
 * whoever reads waiting for ever.
 */
function endAtAbort(trip: Trip, { signal }: Request, response: Response): Response {
  const end = () => trip.failed()
  if (signal.aborted) end()
  else signal.addEventListener('abort', end, { once: true })
  return response
}

function isStream(data: unknown): boolean {
  return data instanceof ReadableStream || typeof (data as { pipe?: unknown } | undefined)?.pipe === 'function'
}
