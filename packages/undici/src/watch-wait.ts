import type { DispatchOptions } from './dispatch.ts'
import { RequestAbortedError } from './errors.ts'
import { isStream } from './late-body.ts'
import { watchSignal } from './watch-signal.ts'

/** What may end a wait from outside. */
export interface WaitEnds {
  abort(reason: unknown): void
  fail(error: unknown): void
}

/**
 * Watches the caller's signal and the request's body until the request is dispatched, when undici does.
 *
 * The signal matters where an interceptor keeps the handler from aborting (`dump`). A body that fails
 * before anybody listens would be an uncaught exception.
 *
 * @returns what ends the watch
 */
export function watchWait({ signal, body }: DispatchOptions, ends: WaitEnds): () => void {
  const stopSignal = watchSignal(signal, (reason) => ends.abort(reason))
  const stopBody = watchBody(body, ends)
  return () => {
    stopSignal()
    stopBody()
  }
}

function watchBody(body: unknown, ends: WaitEnds): () => void {
  if (!isStream(body)) return () => {}
  if (body.errored) ends.fail(body.errored)
  const onError = (error: unknown) => ends.fail(error)
  const onClose = () => ends.fail(new RequestAbortedError('The body was closed before the request left'))
  body.on('error', onError)
  body.on('close', onClose)
  return () => {
    body.off('error', onError)
    body.off('close', onClose)
  }
}
