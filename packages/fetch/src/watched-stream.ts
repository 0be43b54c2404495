import type { Branch } from './body-watch.ts'

/** Whoever has the stream has its response: runtimes cancel the body of one that is garbage. */
const owners = new WeakMap<ReadableStream, Response>()

/**
 * A stream that gives what `native` gives and tells how that ends. Nothing is read before somebody asks for it, so
 * the body comes no faster than it is read, and until then `native` is not locked.
 */
export function watchedStream(
  native: ReadableStream<Uint8Array>,
  branch: Branch,
  owner: Response,
): ReadableStream<Uint8Array> {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined

  async function pull(controller: ReadableStreamController): Promise<void> {
    reader ??= native.getReader()
    try {
      const chunk = await nextChunk(reader)
      if (chunk !== undefined) {
        controller.enqueue(chunk)
        return
      }
    } catch (error) {
      branch.ended()
      throw error
    }
    branch.ended()
    controller.close()
    controller.byobRequest?.respond(0)
  }

  function cancel(reason: unknown): Promise<void> {
    const cancelling = (reader ?? native).cancel(reason)
    // One of two clones: the platform is done only when the other one is cancelled as well.
    if (reader !== undefined || !native.locked) branch.dropped()
    return cancelling
  }

  const stream: ReadableStream<Uint8Array> = isByteStream(native)
    ? new ReadableStream({ type: 'bytes', pull, cancel })
    : new ReadableStream({ pull, cancel }, { highWaterMark: 0 })
  owners.set(stream, owner)
  return stream
}

interface ReadableStreamController {
  readonly byobRequest?: { respond(bytes: number): void } | null
  enqueue(chunk: Uint8Array<ArrayBuffer>): void
  close(): void
}

/** A stream of bytes takes no empty chunk. */
async function nextChunk(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return undefined
    if (value.byteLength !== 0) return value as Uint8Array<ArrayBuffer>
  }
}

/** Whether a reader can bring its own buffer. */
function isByteStream(stream: ReadableStream<Uint8Array>): boolean {
  try {
    stream.getReader({ mode: 'byob' }).releaseLock()
    return true
  } catch {
    return false
  }
}
