import type { FetchInit, FetchInput } from './call.ts'
import { requestOf } from './target.ts'

/** Whether the body has been used already, so that `fetch` will refuse it. */
export function isUnusable(input: FetchInput, init: FetchInit): boolean {
  if (init.body != null) return init.body instanceof ReadableStream && init.body.locked
  const request = requestOf(input)
  return request !== undefined && (request.bodyUsed || request.body?.locked === true)
}

/** Whether a body can be sent only once; everything else that `fetch` takes can be sent again. */
export function isStream(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false
  return body instanceof ReadableStream || Symbol.asyncIterator in body || 'pipe' in body
}

/** Says to the source of a body that nobody will send it, as `fetch` does when it is aborted. */
export function cancelUpload(input: FetchInput, init: FetchInit, reason: unknown): void {
  const body: unknown = init.body ?? requestOf(input)?.body
  if (body instanceof ReadableStream && !body.locked) body.cancel(reason).catch(() => {})
}

/**
 * An unread copy of a `Request` that has a body, for a redirect that asks for it again: from outside it does not show
 * whether the body is a stream.
 */
export function spareOf(input: FetchInput, init: FetchInit): Request | undefined {
  const request = init.body == null ? requestOf(input) : undefined
  return request?.body ? request.clone() : undefined
}
