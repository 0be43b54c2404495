import { fetchFailure, locationOf, redirectTo } from '@hostpace/core'

/**
 * The request that `fetch` would make next if it followed the redirect itself; `undefined` if the response is final.
 * The body of the response is discarded.
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
  const location = locationOf(response)
  if (location === undefined) {
    await spare?.body?.cancel()
    return undefined
  }
  await response.body?.cancel()
  const headers = new Headers(request.headers)
  const { url, method, dropsBody } = redirectTo(location, response.status, { ...fieldsOf(request), headers }, redirects)
  if (dropsBody) {
    await spare?.body?.cancel()
    return again(request, url, { method, headers })
  }
  if (request.body === null) return again(request, url, { headers })
  if (spare === undefined) throw fetchFailure('the body is a stream and cannot be sent again')
  return again(request, url, { headers, body: await spare.arrayBuffer() })
}

function again(request: Request, url: URL, changes: RequestInit): Request {
  // Another fetch than the built-in one takes requests of its own kind only.
  const SameRequest = request.constructor as typeof Request
  const { url: _, ...kept } = fieldsOf(request)
  return new SameRequest(url, { ...kept, ...changes })
}

/** The fields of a request are getters, which spreading would miss. */
function fieldsOf(request: Request) {
  const { url, method, credentials, integrity, keepalive, mode, redirect, referrerPolicy, signal } = request
  return { url, method, credentials, integrity, keepalive, mode, redirect, referrerPolicy, signal }
}
