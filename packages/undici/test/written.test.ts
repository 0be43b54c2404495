import { createPacer } from '@hostpace/core'
import { pace } from '@hostpace/undici'
import type { Dispatcher } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { until } from './support.ts'

/** Dispatches to something that writes at once, as undici does where a connection stands: first it says so. */
function dispatchTo(written: (handler: Dispatcher.DispatchHandler) => void) {
  const events: string[] = []
  const pacer = createPacer({ intervalMs: 60_000 })
  onTestFinished(() => pacer.close())
  const wait = pacer.wait.bind(pacer)
  pacer.wait = async (...args) => {
    const permit = await wait(...args)
    const sent = permit.sent.bind(permit)
    permit.sent = () => {
      events.push('sent')
      sent()
    }
    return permit
  }
  const controller = { aborted: false, paused: false, reason: null, abort() {}, pause() {}, resume() {} }
  const dispatch: Dispatcher.Dispatch = (_options, handler) => {
    handler.onRequestStart?.(controller as unknown as Dispatcher.DispatchController, {})
    events.push('written')
    written(handler)
    return true
  }
  const options = { origin: 'http://127.0.0.1:9', path: '/', method: 'GET' } as const
  const start = (handler: Dispatcher.DispatchHandler) => pace(pacer)(dispatch)(options, handler)
  return { events, pacer, start, origin: options.origin }
}

test('the interval runs from after the write: it may take its time', async () => {
  const { events, start } = dispatchTo(() => {})
  start({ onRequestStart() {} })
  await until(() => events.includes('sent'))
  expect(events).toEqual(['written', 'sent'])
})

test('a request that is given up in the very turn in which it was written has been sent', async () => {
  let own: Dispatcher.DispatchController | undefined
  const { events, pacer, start, origin } = dispatchTo((handler) => {
    own?.abort(new Error('given up'))
    handler.onResponseError?.(own as Dispatcher.DispatchController, new Error('given up'))
  })
  start({
    onRequestStart(controller) {
      own = controller
    },
    onResponseError() {},
  })
  await until(() => events.includes('written'))
  expect(pacer.stats().total.inFlight).toBe(0)
  expect((await pacer.peek(origin)).waitMs).toBeGreaterThan(50_000)
})
