import type { Readable } from 'node:stream'
import type { AxiosStatic, InternalAxiosRequestConfig } from 'axios'

/** What ends the wait of a request early. */
export interface Cancellation {
  readonly signal: AbortSignal | undefined
  /** Takes all listeners off. */
  stop(): void
}

/** Whether the caller has cancelled the request, by its signal or its cancel token. */
export function isCancelled(config: InternalAxiosRequestConfig): boolean {
  return config.signal?.aborted === true || config.cancelToken?.reason !== undefined
}

/**
 * Joins all that may end a wait into one signal: the `signal`, the `cancelToken`, and an upload stream that
 * fails or is closed. Nothing is read from the stream; a cancelled one is destroyed, since nobody else will.
 *
 * For the first two any reason will do, because axios puts its own error in its place.
 */
export function cancellation(root: AxiosStatic, config: InternalAxiosRequestConfig): Cancellation {
  const signal = config.signal as AbortSignal | undefined
  const { cancelToken, data } = config
  const upload = typeof data?.pipe === 'function' ? (data as Readable) : undefined
  if (cancelToken === undefined && upload === undefined) return { signal, stop() {} }

  const controller = new AbortController()
  const cancel = () => {
    controller.abort()
    upload?.destroy?.()
  }
  const fail = (error: Error) => controller.abort(root.AxiosError.from(error, undefined, config))
  const close = () => controller.abort(new root.CanceledError('Request stream has been aborted', config))
  signal?.addEventListener('abort', cancel)
  cancelToken?.subscribe(cancel)
  upload?.on('error', fail).on('close', close)
  return {
    signal: controller.signal,
    stop() {
      signal?.removeEventListener('abort', cancel)
      cancelToken?.unsubscribe(cancel)
      upload?.removeListener('error', fail).removeListener('close', close)
    },
  }
}
