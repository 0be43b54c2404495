import assert from 'node:assert/strict'
import { type AdapterScenario, scenario } from './adapter-scenario.ts'
import { type AdapterSetting, type Sent, still, until } from './adapter-setting.ts'

/** Errors stay what the client makes of them, and free the permit; ours are the cause. */
export const errorScenarios: readonly AdapterScenario[] = [
  scenario('a 404 ends as without pacing', {}, async ({ a, send, newClient, inFlight, answers }) => {
    const plain = await ending(send({ url: a.url('/status', { code: 404 }) }, await newClient()))
    const paced = await ending(send({ url: a.url('/status', { code: 404 }) }))
    assert.deepEqual(paced, plain)
    await inFlight(0)
    assert.deepEqual(answers, [[a.origin, 404]])
  }),

  scenario(
    'a connection that breaks ends as without pacing',
    {},
    async ({ a, driver, send, newClient, inFlight, answers }) => {
      const plain = await ending(send({ url: a.url('/reset') }, await newClient()))
      const sent = send({ url: a.url('/reset') })
      assert.deepEqual(await ending(sent), plain)
      assert.ok(driver.isClientError(await sent.error()))
      await inFlight(0)
      assert.deepEqual(answers, [[a.origin, undefined]])
    },
  ),

  scenario('a connection that is refused ends as without pacing, and was an attempt', {}, async (setting) => {
    const { b, send, newClient, inFlight, waiting, clock, departures } = setting
    await b.close()
    const plain = await ending(send({ url: b.url('/ok') }, await newClient()))
    assert.deepEqual(await ending(send({ url: b.url('/ok') })), plain)
    await inFlight(0)
    const second = send({ url: b.url('/ok') })
    await waiting(1)
    await clock.advanceAsync(1000)
    await second.settled()
    assert.deepEqual(departures, [b.origin, b.origin])
  }),

  scenario('a full queue refuses at once, and nobody repeats the request', { maxQueue: 1 }, async (setting) => {
    const { a, send, waiting, pacer } = setting
    await send({ url: a.url('/ok') }).response()
    send({ url: a.url('/queued') })
    await waiting(1)
    await refused(setting, send({ url: a.url('/refused'), retries: 3 }), 'ERR_HOSTPACE_QUEUE_FULL')
    await still()
    assert.equal(pacer.stats().total.refused, 1)
    assert.deepEqual(a.paths, ['/ok'])
  }),

  scenario('a pacer that is closed refuses those who wait and those who come', {}, async (setting) => {
    const { a, send, waiting, pacer, clock } = setting
    await send({ url: a.url('/ok') }).response()
    const sent = send({ url: a.url('/ok'), retries: 3 })
    await waiting(1)
    await pacer.close()
    await refused(setting, sent, 'ERR_HOSTPACE_CLOSED')
    await refused(setting, send({ url: a.url('/ok') }), 'ERR_HOSTPACE_CLOSED')
    await clock.advanceAsync(10_000)
    await still()
    assert.equal(a.hits.length, 1)
  }),

  scenario('a refusal of a redirect hop', { needs: ['redirect'], maxWaitMs: 500 }, async (setting) => {
    const { a, send } = setting
    await refused(setting, send({ url: a.url('/redirect', { to: '/ok' }) }), 'ERR_HOSTPACE_WAIT_TOO_LONG')
    assert.equal(a.hits.length, 1)
  }),

  scenario(
    'a body that breaks off ends as without pacing, and frees the permit',
    { concurrency: 1 },
    async (setting) => {
      const { a, driver, send, newClient, inFlight } = setting
      const plain = await ending(send({ url: a.url('/cut') }, await newClient()))
      const sent = send({ url: a.url('/cut') })
      assert.deepEqual(await ending(sent), plain)
      // got takes what came for the whole of it over HTTP/2.
      assert.ok(sent.state === 'done' || driver.isClientError(await sent.error()))
      await inFlight(0)
    },
  ),

  scenario(
    'A16: failures use up what successes do, and free the permits',
    { concurrency: 2, rate: 1000 },
    async (setting) => {
      const { a, send, inFlight, departures } = setting
      const sends = Array.from({ length: 6 }, () => send({ url: a.url('/reset') }))
      const endings = await Promise.all(sends.map(ending))
      assert.equal(new Set(endings.map((end) => JSON.stringify(end))).size, 1)
      await inFlight(0)
      assert.equal(departures.length, 6)
      await until(() => a.hits.length >= 6, 'six attempts')
    },
  ),
]

/** How a request ended, in what can be compared between two clients. */
async function ending(sent: Sent): Promise<Record<string, unknown>> {
  try {
    const { status, body } = await sent.response()
    return { status, body }
  } catch (error) {
    const { name, message, code, cause } = error as Error & { code?: unknown }
    return { name, message, code, cause: (cause as { code?: unknown } | undefined)?.code }
  }
}

async function refused({ driver }: AdapterSetting, sent: Sent, code: string): Promise<void> {
  const error = await sent.error()
  const { signal } = new AbortController()
  assert.ok(driver.isClientError(error), `${error} is one of the client’s errors`)
  assert.ok(!driver.isAbort(error, signal), 'a refusal is not an abort')
  assert.equal((driver.causeOf(error) as { code?: unknown } | undefined)?.code, code)
}
