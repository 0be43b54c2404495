import { EventEmitter } from 'node:events'

type Stream = Pick<NodeJS.EventEmitter, 'on' | 'off'> & { readonly errored?: unknown; readonly readableEnded?: boolean }
type Chunks = AsyncIterable<unknown>

/**
 * Whether a body may keep undici waiting for its first chunk. Over HTTP/1.1 the head of the request is written together
 * with that, so the host sees nothing of the request before.
 */
export function isLate(body: unknown): body is Stream | Chunks {
  return isStream(body) ? body.readableEnded !== true : isAsyncIterable(body)
}

/**
 * Calls `flows` when the body gives its first chunk or ends. It is read by nobody but undici, and not before.
 *
 * @returns the body to send in its place
 */
export function watchFlow(body: Stream | Chunks, flows: () => void): Stream | Chunks {
  if (!isStream(body)) return told(body, flows)
  const once = () => {
    body.off('data', once).off('end', once)
    flows()
  }
  // Its own `on` would make a stream flow before undici listens, and `once` of any calls that.
  for (const event of ['data', 'end']) EventEmitter.prototype.on.call(body as never, event, once)
  return body
}

async function* told(chunks: Chunks, flows: () => void): AsyncGenerator<unknown> {
  for await (const chunk of chunks) {
    flows()
    yield chunk
  }
  flows()
}

export function isStream(body: unknown): body is Stream {
  const { pipe, on } = (body ?? {}) as { pipe?: unknown; on?: unknown }
  return typeof pipe === 'function' && typeof on === 'function'
}

function isAsyncIterable(body: unknown): body is Chunks {
  return typeof (body as Partial<Chunks> | null | undefined)?.[Symbol.asyncIterator] === 'function'
}
