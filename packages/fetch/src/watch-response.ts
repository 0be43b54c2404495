import { BodyWatch, type Branch } from './body-watch.ts'
import { watchedStream } from './watched-stream.ts'

const READERS = ['arrayBuffer', 'blob', 'bytes', 'formData', 'json', 'text'] as const

type Reader = (this: Response) => Promise<unknown>

/** Frees what belongs to a response that nobody has read and nobody can any more. */
const garbage = new FinalizationRegistry<Branch>((branch) => branch.dropped())

/**
 * Calls `whenOver` once the body has ended, failed, been cancelled or been left to the garbage collector; at once if
 * there is none.
 *
 * The response stays the one that `fetch` gave, so that the runtime knows it and `url`, `type` and all the rest are
 * what they were. Only the ways to read its body, and `clone()`, are covered by own properties that watch.
 */
export function watchResponse(response: Response, signal: AbortSignal | undefined, whenOver: () => void): Response {
  if (isEmpty(response)) whenOver()
  else watch(response, new BodyWatch(signal, whenOver).branch())
  return response
}

/**
 * Lets a response that came after redirects say so.
 *
 * @param isForeign whether one of them led to another origin
 */
export function markRedirected(response: Response, isForeign: boolean): void {
  cover(response, 'redirected', { value: true })
  if (isForeign && response.type === 'basic') cover(response, 'type', { value: 'cors' })
}

function isEmpty({ body, headers }: Response): boolean {
  // What is no stream of the platform, as mocks have it, cannot be watched.
  return typeof body?.getReader !== 'function' || headers.get('content-length') === '0'
}

function watch(response: Response, branch: Branch): void {
  const nativeBody = bodyGetter(response)
  let source: ReadableStream<Uint8Array> | undefined
  let stream: ReadableStream<Uint8Array> | undefined
  const assertFree = (): void => {
    if (stream?.locked) throw new TypeError('Body is unusable: its stream is locked')
  }

  garbage.register(response, branch)
  cover(response, 'body', {
    get() {
      const native = nativeBody()
      // A clone has put another stream in the place of the first.
      if (stream === undefined || native !== source) stream = watchedStream(native, branch, response)
      source = native
      return stream
    },
  })
  for (const name of READERS) {
    const read = (response as Partial<Record<string, unknown>> & Response)[name] as Reader | undefined
    if (typeof read !== 'function') continue
    cover(response, name, {
      value: async () => {
        assertFree()
        const isFirst = !response.bodyUsed
        try {
          return await read.call(response)
        } finally {
          if (isFirst && response.bodyUsed) branch.ended()
        }
      },
    })
  }
  const clone = response.clone
  cover(response, 'clone', {
    value: () => {
      assertFree()
      const copy = clone.call(response)
      if (response.redirected) markRedirected(copy, response.type === 'cors')
      watch(copy, branch.sibling())
      return copy
    },
  })
}

/** Reads the body past the cover. */
function bodyGetter(response: Response): () => ReadableStream<Uint8Array> {
  const own = Object.getOwnPropertyDescriptor(response, 'body')
  if (own !== undefined) return () => own.get?.call(response) ?? own.value
  return () => Reflect.get(Object.getPrototypeOf(response), 'body', response)
}

/** Layers outside may set a method of their own in its place. */
function cover(response: Response, name: string, property: PropertyDescriptor): void {
  const writable = 'value' in property ? { writable: true } : {}
  Object.defineProperty(response, name, { configurable: true, ...writable, ...property })
}
