import { fetchFailure, locationOf, redirectTo } from '@hostpace/core'
import type { FetchInit, Leg } from './call.ts'
import { requestOf } from './target.ts'
import { isStream } from './upload.ts'

/**
 * The request that `fetch` would make next if it followed the redirect itself (Fetch Standard, "HTTP-redirect
 * fetch"); `undefined` if the response is final. The body of a response that is not is discarded.
 *
 * @param spare an unread copy of the request, if it is a `Request` with a body
 * @throws TypeError where `fetch` would reject with one
 */
export async function followRedirect(
  leg: Leg,
  response: Response,
  spare: Request | undefined,
  redirects: number,
): Promise<Leg | undefined> {
  const location = locationOf(response)
  if (location === undefined) return undefined
  await response.body?.cancel()
  const { status } = response
  const headers = new Headers(leg.init.headers ?? requestOf(leg.input)?.headers)
  const next = redirectTo(location, status, { url: leg.url, method: methodOf(leg), headers }, redirects)
  if (status !== 303 && isStream(leg.init.body)) throw fetchFailure('the body is a stream and cannot be sent again')
  const { url, method } = next
  const kept: FetchInit = { ...fieldsOf(requestOf(leg.input)), ...given(leg.init), method, headers }
  if (!next.dropsBody) return { input: url, url, init: { ...kept, ...(await bodyOf(leg, spare)) } }
  const { body: _, ...init } = kept
  return { input: url, url, init }
}

/** The method of a request in the form in which it is sent. */
export function methodOf({ input, init }: Leg): string {
  const method = init.method ?? requestOf(input)?.method ?? 'GET'
  return /^(?:delete|get|head|options|post|put)$/i.test(method) ? method.toUpperCase() : method
}

async function bodyOf(leg: Leg, spare: Request | undefined): Promise<FetchInit> {
  if (leg.init.body != null || spare === undefined) return {}
  return { body: await spare.arrayBuffer() }
}

/** Less what is `undefined`, which replaces nothing that a `Request` says. */
function given(init: FetchInit): FetchInit {
  return Object.fromEntries(Object.entries(init).filter(([, value]) => value !== undefined))
}

/** What a `Request` says beside URL, method, headers and body. */
function fieldsOf(request: Request | undefined): FetchInit {
  if (request === undefined) return {}
  const { cache, credentials, integrity, keepalive, mode, referrer, referrerPolicy, signal } = request
  return { cache, credentials, integrity, keepalive, mode, referrer, referrerPolicy, signal } as FetchInit
}
