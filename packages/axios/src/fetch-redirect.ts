const REDIRECTS = new Set([301, 302, 303, 307, 308])
const MOST_REDIRECTS = 20
const BODY_HEADERS = ['content-encoding', 'content-language', 'content-length', 'content-location', 'content-type']
const ORIGIN_HEADERS = ['authorization', 'cookie', 'host', 'proxy-authorization']

/**
 * The request that `fetch` would make next if it followed the redirect itself (Fetch Standard, "HTTP-redirect
 * fetch"); `undefined` if the response is final. The body of the response is discarded.
 *
 * @param spare an unread copy of the request, if its body can be sent again
 * @throws TypeError where `fetch` would reject with one
 */
export async function followRedirect(
  request: Request,
  response: Response,
  spare: Request | undefined,
  redirects: number,
): Promise<Request | undefined> {
  const location = response.headers.get('location')
  if (!REDIRECTS.has(response.status) || location === null) {
    await spare?.body?.cancel()
    return undefined
  }
  await response.body?.cancel()
  if (redirects >= MOST_REDIRECTS) throw failure('redirect count exceeded')
  const url = targetOf(location, request.url)
  const headers = new Headers(request.headers)
  if (new URL(request.url).origin !== url.origin) for (const name of ORIGIN_HEADERS) headers.delete(name)

  if (becomesGet(response.status, request.method)) {
    for (const name of BODY_HEADERS) headers.delete(name)
    await spare?.body?.cancel()
    return again(request, url, { method: 'GET', headers })
  }
  if (request.body === null) return again(request, url, { headers })
  if (spare === undefined) throw failure('the body is a stream and cannot be sent again')
  return again(request, url, { headers, body: await spare.arrayBuffer() })
}

function targetOf(location: string, base: string): URL {
  if (!URL.canParse(location, base)) throw failure(`Invalid URL in a redirect: ${location}`)
  const url = new URL(location, base)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw failure('URL scheme must be a HTTP(S) scheme')
  if (url.hash === '') url.hash = new URL(base).hash
  return url
}

function becomesGet(status: number, method: string): boolean {
  if (status === 303) return method !== 'GET' && method !== 'HEAD'
  return (status === 301 || status === 302) && method === 'POST'
}

function again(request: Request, url: URL, changes: RequestInit): Request {
  const { method, credentials, integrity, keepalive, mode, redirect, referrerPolicy, signal } = request
  const kept: RequestInit = { method, credentials, integrity, keepalive, mode, redirect, referrerPolicy, signal }
  // Another fetch than the built-in one takes requests of its own kind only.
  const SameRequest = request.constructor as typeof Request
  return new SameRequest(url, { ...kept, ...changes })
}

/** The form in which `fetch` reports what goes wrong on the way; axios knows it as a network error. */
function failure(reason: string): TypeError {
  return new TypeError('fetch failed', { cause: new Error(reason) })
}
