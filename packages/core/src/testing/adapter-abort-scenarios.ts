import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import type { DriverRequest } from './adapter-driver.ts'
import { type AdapterScenario, plainOnly, scenario } from './adapter-scenario.ts'
import { type AdapterSetting, still, until } from './adapter-setting.ts'

/** Who gives up while waiting gets the client's own error at once, sends nothing and leaves nothing behind. */
export const abortScenarios: readonly AdapterScenario[] = [
  scenario('an abort while the first hop waits', {}, async (setting) => {
    const { a, send } = setting
    await send({ url: a.url('/ok') }).response()
    await abortWhileWaiting(setting, { url: a.url('/aborted') })
    assert.deepEqual(a.paths, ['/ok', '/ok'])
  }),

  scenario('an abort while a redirect hop waits', { needs: ['redirect'] }, async (setting) => {
    const { a, answers } = setting
    const url = a.url('/redirect', { to: '/aborted' })
    await abortWhileWaiting(setting, { url })
    assert.equal(a.paths.includes('/aborted'), false)
    assert.deepEqual(answers[0], [a.origin, 302])
  }),

  scenario('an abort while a retry waits', { needs: ['retry'] }, async (setting) => {
    const { a, answers } = setting
    const url = a.url('/limited', { code: 503 })
    await abortWhileWaiting(setting, { url, retries: 3 })
    assert.deepEqual(
      a.hits.map(({ path }) => path),
      [url.slice(a.origin.length), '/ok'],
    )
    assert.deepEqual(answers[0], [a.origin, 503])
  }),

  scenario('an abort with a reason of its own', {}, async (setting) => {
    const { a, send } = setting
    await send({ url: a.url('/ok') }).response()
    await abortWhileWaiting(setting, { url: a.url('/aborted') }, new Error('no longer wanted'))
  }),

  scenario('a signal that is aborted already', {}, async ({ a, driver, send, pacer, departures }) => {
    const signal = AbortSignal.abort()
    assert.ok(driver.isAbort(await send({ url: a.url('/ok'), signal }).error(), signal))
    await still()
    assert.deepEqual([a.hits.length, departures.length, pacer.stats().total.queued], [0, 0, 0])
    await send({ url: a.url('/ok') }).response()
  }),

  scenario('an abort while the answer is awaited', {}, async ({ a, driver, send, inFlight, departures }) => {
    const abort = new AbortController()
    const sent = send({ url: a.url('/hang'), signal: abort.signal })
    await until(() => a.hits.length === 1, 'the request')
    abort.abort()
    assert.ok(driver.isAbort(await sent.error(), abort.signal))
    await inFlight(0)
    assert.deepEqual(departures, [a.origin])
  }),

  scenario('what cannot be sent before AbortSignal.timeout is never sent', plainOnly, async (setting) => {
    const { a, driver, send, clock } = setting
    await send({ url: a.url('/ok') }).response()
    const signal = AbortSignal.timeout(40)
    assert.ok(driver.isAbort(await send({ url: a.url('/late'), signal }).error(), signal))
    await clock.advanceAsync(10_000)
    await still()
    assert.deepEqual(a.paths, ['/ok'])
  }),

  scenario('B03: those who run out of time leave their places to the others', plainOnly, async (setting) => {
    const { a, driver, clock, send, waiting } = setting
    const late = new AbortController()
    const sends = []
    for (let n = 1; n <= 5; n++) {
      sends.push(send({ url: a.url(`/r${n}`), signal: late.signal }))
      if (n === 1) await until(() => a.hits.length === 1, 'the first request')
      else await waiting(n - 1)
    }
    for (const hits of [2, 3]) {
      await clock.advanceAsync(1000)
      await until(() => a.hits.length === hits, `request ${hits}`)
      await sends[hits - 1]?.response().catch(() => {})
    }
    await clock.advanceAsync(500)
    late.abort()
    for (const sent of sends.slice(3)) assert.ok(driver.isAbort(await sent.error(), late.signal))
    await clock.advanceAsync(100)
    send({ url: a.url('/r6') })
    await waiting(1)
    await clock.advanceAsync(399)
    await still()
    assert.equal(a.hits.length, 3)
    await clock.advanceAsync(1)
    await until(() => a.hits.length === 4, 'the sixth request')
    assert.deepEqual(a.paths, ['/r1', '/r2', '/r3', '/r6'])
  }),

  scenario('many requests on one signal leave no listener on it', plainOnly, async (setting) => {
    const { a, send, clock, newClient, waiting, inFlight } = setting
    const plain = await newClient()
    const signals = { plain: new AbortController().signal, paced: new AbortController().signal }
    const left = (signal: AbortSignal) => getEventListeners(signal, 'abort').length
    let mostPlain = 0
    for (let n = 0; n < 50; n++) {
      await send({ url: a.url('/ok'), signal: signals.plain }, plain).response()
      mostPlain = Math.max(mostPlain, left(signals.plain))
    }
    await send({ url: a.url('/ok'), signal: signals.paced }).response()
    for (let n = 1; n < 50; n++) {
      const sent = send({ url: a.url('/ok'), signal: signals.paced })
      await waiting(1)
      await clock.advanceAsync(1000)
      await sent.response()
    }
    await inFlight(0)
    await still()
    // Some clients leave one for each request until it is garbage, and nobody knows when that is collected.
    const allowed = mostPlain > 1 ? 50 : left(signals.plain)
    assert.ok(left(signals.paced) <= allowed, `${left(signals.paced)} listeners are left`)
  }),
]

/** Aborts `request` while it waits for its host, then sees that the place is free and nothing is sent later. */
async function abortWhileWaiting(setting: AdapterSetting, request: DriverRequest, reason?: unknown): Promise<void> {
  const { a, driver, clock, send, waiting, inFlight } = setting
  const abort = new AbortController()
  const sent = send({ ...request, signal: abort.signal })
  await waiting(1)
  const hits = a.hits.length
  abort.abort(reason)
  assert.ok(driver.isAbort(await sent.error(), abort.signal), 'fails with the client’s own error for an abort')
  await waiting(0)
  await inFlight(0)

  const next = send({ url: a.url('/ok') })
  await waiting(1)
  assert.equal(a.hits.length, hits)
  await clock.advanceAsync(1000)
  await next.response()
  await clock.advanceAsync(10_000)
  await still()
  assert.equal(a.hits.length, hits + 1)
}
