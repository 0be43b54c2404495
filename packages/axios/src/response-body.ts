import { finished, Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import type { AxiosResponse } from 'axios'

/** Calls `listener` once the body of a response has ended, failed or been discarded; at once if it is no stream. */
export function whenOver(response: AxiosResponse, listener: () => void): void {
  const { data, status } = response
  const streamed = data instanceof Readable || data instanceof ReadableStream
  const bodiless = response.config.method?.toLowerCase() === 'head' || status === 204 || status === 304
  if (!streamed || bodiless) listener()
  else finished(data as Readable | NodeReadableStream as NodeJS.ReadableStream, listener)
}
