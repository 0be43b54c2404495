import { pace } from '@hostpace/undici'
import type { Dispatcher } from 'undici'
import { expect, test } from 'vitest'
import { serve, setUp, still, until, waiting } from './support.ts'

/** A handler that writes down what it hears. */
function listen() {
  const heard: string[] = []
  const controllers: Dispatcher.DispatchController[] = []
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(controller) {
      heard.push('start')
      controllers.push(controller)
    },
    onResponseStart: (_controller, status) => void heard.push(`status ${status}`),
    onResponseData: (_controller, chunk) => void heard.push(String(chunk)),
    onResponseEnd: () => void heard.push('end'),
    onResponseError: (_controller, error) => void heard.push(error.message),
  }
  const controller = () => controllers[0] as Dispatcher.DispatchController
  return { heard, handler, controller }
}

test('a handler is started once, before the wait', async () => {
  const { origin } = await serve()
  const { clock, pacer, agent } = setUp()
  const dispatcher = agent.compose(pace(pacer))
  const options = { origin, path: '/', method: 'GET' }
  const [first, second] = [listen(), listen()]
  dispatcher.dispatch(options, first.handler)
  await until(() => first.heard.includes('end'))
  dispatcher.dispatch(options, second.handler)
  expect(second.heard).toEqual(['start'])
  await waiting(pacer, 1)
  await clock.advanceAsync(1000)
  await until(() => second.heard.includes('end'))
  expect(second.heard).toEqual(['start', 'status 200', 'ok', 'end'])
})

test('its controller says that the request was aborted, and why', async () => {
  const { origin } = await serve()
  const { pacer, agent } = setUp()
  const dispatcher = agent.compose(pace(pacer))
  const options = { origin, path: '/', method: 'GET' }
  dispatcher.dispatch(options, listen().handler)
  const { heard, handler, controller } = listen()
  dispatcher.dispatch(options, handler)
  expect(controller().aborted).toBe(false)
  expect(controller().reason).toBeNull()
  const reason = new Error('enough')
  controller().abort(reason)
  controller().abort(new Error('once more'))
  expect(controller().aborted).toBe(true)
  expect(controller().reason).toBe(reason)
  expect(heard).toEqual(['start', 'enough'])
})

test('a pause during the wait holds for the response, until it is resumed', async () => {
  const { origin } = await serve()
  const { pacer, agent } = setUp()
  const { heard, handler, controller } = listen()
  agent.compose(pace(pacer)).dispatch({ origin, path: '/', method: 'GET' }, handler)
  controller().pause()
  expect(controller().paused).toBe(true)
  await until(() => heard.includes('status 200'))
  await still()
  expect(heard).toEqual(['start', 'status 200'])
  expect(controller().paused).toBe(true)
  expect(controller().rawHeaders).not.toBeUndefined()
  controller().resume()
  await until(() => heard.includes('end'))
  expect(heard).toEqual(['start', 'status 200', 'ok', 'end'])
})

test('a handler that goes on during the wait lets the response through', async () => {
  const { origin } = await serve()
  const { pacer, agent } = setUp()
  const { heard, handler, controller } = listen()
  agent.compose(pace(pacer)).dispatch({ origin, path: '/', method: 'GET' }, handler)
  controller().pause()
  controller().resume()
  expect(controller().paused).toBe(false)
  await until(() => heard.includes('end'))
})
