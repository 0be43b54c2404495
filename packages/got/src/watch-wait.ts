import type { Options } from 'got'

/** What ends the wait of a request. */
export type Giver = AbortController

interface Emitter {
  on(name: string, listener: (...args: never[]) => void): unknown
  off(name: string, listener: (...args: never[]) => void): unknown
}

/**
 * Ends the wait when the caller's signal is aborted or the body fails. got rejects the call by itself then, with an error
 * of its own; what is left to do is to give the place back.
 *
 * @returns what ends the watch
 */
export function watchWait(giver: Giver, { signal, body }: Options): () => void {
  const giveUp = () => giver.abort()
  if (signal?.aborted) giveUp()
  signal?.addEventListener('abort', giveUp)
  const stream = isEmitter(body) ? body : undefined
  stream?.on('error', giveUp)
  return () => {
    signal?.removeEventListener('abort', giveUp)
    stream?.off('error', giveUp)
  }
}

function isEmitter(body: unknown): body is Emitter {
  const { pipe, on } = (body ?? {}) as { pipe?: unknown; on?: unknown }
  return typeof pipe === 'function' && typeof on === 'function'
}
