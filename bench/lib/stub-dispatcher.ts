import { Dispatcher } from 'undici'

const body = Buffer.from('ok')
const headers = { 'content-type': 'text/plain', 'content-length': '2' }
const rawHeaders = Object.entries(headers)
  .flat()
  .map((text) => Buffer.from(text))

const controller: Dispatcher.DispatchController = {
  aborted: false,
  paused: false,
  reason: null,
  abort() {},
  pause() {},
  resume() {},
}

/** Answers each request at once, with no connection behind it. */
export class StubDispatcher extends Dispatcher {
  override dispatch(_options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (handler.onRequestStart === undefined) {
      handler.onConnect?.(() => {})
      handler.onHeaders?.(200, rawHeaders, () => {}, 'OK')
      handler.onData?.(body)
      handler.onComplete?.([])
    } else {
      handler.onRequestStart(controller, {})
      handler.onResponseStart?.(controller, 200, headers, 'OK')
      handler.onResponseData?.(controller, body)
      handler.onResponseEnd?.(controller, {})
    }
    return true
  }
}
