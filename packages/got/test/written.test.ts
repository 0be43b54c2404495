import { request } from 'node:http'
import { expect, test } from 'vitest'
import { hits, later, pacedGot, serve } from './paced-got.ts'

test('a request that is given up in the very turn in which it was written has been sent', async () => {
  const site = await serve((_request, response) => response.end('ok'))
  const { client, pacer, inFlight } = pacedGot({ intervalMs: 1000 })
  const { signal, abort } = controllerWithAbort()
  const error = await later(
    client(site.origin, {
      signal,
      request: (...args: unknown[]) => {
        const sending = request(...(args as Parameters<typeof request>))
        // As soon as what connected it has run to its end, the write among it.
        sending.once('socket', (socket) => socket.once('connect', () => queueMicrotask(abort)))
        return sending
      },
    }),
  )
  expect(error).toMatchObject({ code: 'ERR_ABORTED' })
  await inFlight(0)
  await hits(site, 1)
  expect((await pacer.peek(site.origin)).waitMs).toBe(1000)
})

function controllerWithAbort(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}
