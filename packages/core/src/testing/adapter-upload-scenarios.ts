import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { type AdapterScenario, scenario } from './adapter-scenario.ts'
import { type AdapterSetting, type Sent, still } from './adapter-setting.ts'
import type { Echo } from './target-server.ts'

/** A body that is a stream is not touched while it waits. */
export const uploadScenarios: readonly AdapterScenario[] = [
  scenario('an upload arrives whole after the wait', { needs: ['upload'] }, async (setting) => {
    const chunks = Array.from({ length: 48 }, (_, n) => Buffer.alloc(65_536, n))
    const sent = await waitingUpload(setting, Readable.from(chunks, { objectMode: false }))
    await setting.clock.advanceAsync(1000)
    const echo: Echo = JSON.parse((await sent.response()).body)
    const sha256 = createHash('sha256').update(Buffer.concat(chunks)).digest('hex')
    assert.deepEqual(echo, { bytes: 48 * 65_536, sha256 })
  }),

  scenario('an upload is unread while it waits', { needs: ['lazy-upload'] }, async (setting) => {
    const body = Readable.from(['all of it'], { objectMode: false })
    const sent = await waitingUpload(setting, body)
    await still()
    assert.equal(body.readableDidRead, false)
    await setting.clock.advanceAsync(1000)
    assert.equal(JSON.parse((await sent.response()).body).bytes, 9)
  }),

  scenario(
    'an upload that fails while it waits fails the request at once',
    { needs: ['lazy-upload'] },
    async (setting) => {
      const { a, driver, clock, waiting, inFlight } = setting
      const uncaught: unknown[] = []
      const onUncaught = (error: unknown) => uncaught.push(error)
      process.on('uncaughtException', onUncaught)
      try {
        const body = new Readable({ read() {} })
        const sent = await waitingUpload(setting, body)
        body.destroy(new Error('the disk is gone'))
        const error = await sent.error()
        assert.match(`${error} ${(error as Error).cause ?? ''}`, /the disk is gone/)
        assert.ok(!driver.isAbort(error, new AbortController().signal))
        await waiting(0)
        await clock.advanceAsync(10_000)
        await still()
        await inFlight(0)
        assert.equal(a.hits.length, 1)
        assert.deepEqual(uncaught, [])
      } finally {
        process.off('uncaughtException', onUncaught)
      }
    },
  ),

  scenario('an upload that is aborted while it waits is destroyed', { needs: ['lazy-upload'] }, async (setting) => {
    const { driver, waiting } = setting
    const abort = new AbortController()
    const body = new Readable({ read() {} })
    body.on('error', () => {})
    const sent = await waitingUpload(setting, body, abort.signal)
    abort.abort()
    assert.ok(driver.isAbort(await sent.error(), abort.signal))
    await waiting(0)
    await still()
    assert.equal(body.destroyed, true)
  }),
]

/** Uploads `body` to a host that is not free yet. */
async function waitingUpload(
  { a, send, waiting }: AdapterSetting,
  body: Readable,
  signal?: AbortSignal,
): Promise<Sent> {
  await send({ url: a.url('/ok') }).response()
  const sent = send({ url: a.url('/echo'), method: 'POST', body, ...(signal && { signal }) })
  await waiting(1)
  return sent
}
