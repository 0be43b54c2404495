/** What `fetch` would ask for next. */
export interface FetchRedirect {
  readonly url: URL
  readonly method: string
  /** Whether the body stays behind. */
  readonly dropsBody: boolean
}

/** As much of a request as decides about the next one. */
interface Redirected {
  readonly url: string | URL
  readonly method: string
  /** The headers of the next request; those that may not go along are deleted. */
  readonly headers: Headers
}

const statuses = new Set([301, 302, 303, 307, 308])
const mostRedirects = 20
const bodyHeaders = ['content-encoding', 'content-language', 'content-length', 'content-location', 'content-type']
const originHeaders = ['authorization', 'cookie', 'host', 'proxy-authorization']

/**
 * For adapters that follow the redirects of `fetch` in its place: where a response asks to be redirected to.
 *
 * @returns `undefined` for a response that asks for nothing
 */
export function locationOf({ status, headers }: Response): string | undefined {
  return statuses.has(status) ? (headers.get('location') ?? undefined) : undefined
}

/**
 * For adapters that follow the redirects of `fetch` in its place: what it would ask for next (Fetch Standard,
 * "HTTP-redirect fetch").
 *
 * @param redirects how many have been followed before
 * @throws TypeError where `fetch` would reject with one
 */
export function redirectTo(location: string, status: number, from: Redirected, redirects: number): FetchRedirect {
  const url = targetOf(location, new URL(from.url))
  if (redirects >= mostRedirects) throw fetchFailure('redirect count exceeded')
  const dropsBody = becomesGet(status, from.method)
  const dropped = [...(dropsBody ? bodyHeaders : []), ...(new URL(from.url).origin === url.origin ? [] : originHeaders)]
  for (const name of dropped) from.headers.delete(name)
  return { url, method: dropsBody ? 'GET' : from.method, dropsBody }
}

/** For adapters that act in the place of `fetch`: the form in which it reports what goes wrong on the way. */
export function fetchFailure(reason: string): TypeError {
  return new TypeError('fetch failed', { cause: new Error(reason) })
}

function targetOf(location: string, base: URL): URL {
  if (!URL.canParse(location, base.href)) throw fetchFailure(`Invalid URL in a redirect: ${location}`)
  const url = new URL(location, base)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw fetchFailure('URL scheme must be a HTTP(S) scheme')
  if (url.username !== '' || url.password !== '') throw fetchFailure('a redirect must not bring credentials')
  if (url.hash === '') url.hash = base.hash
  return url
}

function becomesGet(status: number, method: string): boolean {
  if (status === 303) return method !== 'GET' && method !== 'HEAD'
  return (status === 301 || status === 302) && method === 'POST'
}
