import { fetchFailure } from '@hostpace/core'
import type { Call, Fetch, Leg } from './call.ts'
import type { Hop } from './hop.ts'
import { followRedirect, methodOf } from './redirect.ts'
import { spareOf } from './upload.ts'
import { markRedirected, watchResponse } from './watch-response.ts'

/** Functions that have been seen to hide their redirects. */
const hiding = new WeakSet<Fetch>()

/**
 * Sends the requests of a call. The redirects that `fetch` would follow by itself are followed here, so that each can
 * wait for its own host, unless the runtime hides them: then only the first hop is paced.
 */
export async function fetchByHops(call: Call): Promise<Response> {
  const hop = await call.enter(call.first)
  if (call.redirect !== 'follow' || hidesRedirects(call.fetch)) return sendOnce(call, hop, call.first)
  return follow(call, hop, call.first)
}

async function follow(call: Call, firstHop: Hop, first: Leg): Promise<Response> {
  let hop = firstHop
  let leg = first
  let isForeign = false
  for (let redirects = 0; ; redirects++) {
    const spare = spareOf(leg.input, leg.init)
    let next: Leg | undefined
    try {
      const response = await call.send(hop, leg, 'manual')
      if (isHidden(response)) return await sendAgain(call, hop, leg)
      next = await followRedirect(leg, response, spare, redirects)
      if (next === undefined) {
        if (redirects > 0) markRedirected(response, isForeign)
        return watchResponse(response, call.signal, () => hop.over())
      }
    } catch (error) {
      hop.over()
      throw error
    } finally {
      if (spare?.bodyUsed === false) spare.body?.cancel().catch(() => {})
    }
    hop.over()
    hop = await call.enter(next)
    isForeign ||= next.url.origin !== first.url.origin
    leg = next
  }
}

async function sendOnce(call: Call, hop: Hop, leg: Leg): Promise<Response> {
  const response = await call.send(hop, leg, call.redirect)
  return watchResponse(response, call.signal, () => hop.over())
}

/**
 * The runtime has hidden a redirect, so it has to follow that itself. To ask once more is safe only for what changes
 * nothing; from now on nothing is asked twice.
 */
async function sendAgain(call: Call, hop: Hop, leg: Leg): Promise<Response> {
  hiding.add(call.fetch)
  hop.over()
  const method = methodOf(leg)
  if (method !== 'GET' && method !== 'HEAD') throw fetchFailure('the runtime hides where it is redirected to')
  return sendOnce(call, await call.enter(leg), leg)
}

function isHidden({ type, status }: Response): boolean {
  return type === 'opaqueredirect' && status === 0
}

/** Browsers do, in pages and in workers. */
function hidesRedirects(fetch: Fetch): boolean {
  return 'document' in globalThis || 'importScripts' in globalThis || hiding.has(fetch)
}
