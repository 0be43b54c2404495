import assert from 'node:assert/strict'
import { type AdapterScenario, plainOnly, scenario } from './adapter-scenario.ts'
import { still, until } from './adapter-setting.ts'

const quota = {
  quotas: [{ limit: 3, windowMs: 10_000 }],
  rate: 1000,
  capacity: 1000,
  justification: 'a test',
  ...plainOnly,
}

/** What one request may say of itself. */
export const optionScenarios: readonly AdapterScenario[] = [
  scenario('priority: the higher goes first', plainOnly, async ({ a, send, waiting, clock }) => {
    await send({ url: a.url('/first') }).response()
    const low = send({ url: a.url('/low') })
    await waiting(1)
    const high = send({ url: a.url('/high'), priority: 1 })
    await waiting(2)
    await clock.advanceAsync(1000)
    await high.settled()
    await clock.advanceAsync(1000)
    await low.settled()
    assert.deepEqual(a.paths, ['/first', '/high', '/low'])
  }),

  scenario('cost: a request may count as several', quota, async ({ a, send, waiting, clock }) => {
    await send({ url: a.url('/ok'), cost: 3 }).response()
    const second = send({ url: a.url('/ok') })
    await waiting(1)
    await clock.advanceAsync(9999)
    await still()
    assert.equal(a.hits.length, 1)
    await clock.advanceAsync(1)
    await second.response()
  }),

  scenario('maxWaitMs: what would wait longer fails at once', plainOnly, async ({ a, driver, send, waiting }) => {
    await send({ url: a.url('/ok') }).response()
    const error = driver.causeOf(await send({ url: a.url('/ok'), maxWaitMs: 999 }).error())
    assert.equal((error as { code?: unknown }).code, 'ERR_HOSTPACE_WAIT_TOO_LONG')
    assert.equal((error as { waitMs?: unknown }).waitMs, 1000)
    send({ url: a.url('/ok'), maxWaitMs: 1000 })
    await waiting(1)
  }),

  scenario(
    'key: requests to several hosts may share a pace',
    plainOnly,
    async ({ a, b, send, waiting, clock, departures }) => {
      await send({ url: a.url('/ok'), key: 'both' }).response()
      const second = send({ url: b.url('/ok'), key: 'both' })
      await waiting(1)
      await clock.advanceAsync(1000)
      await second.response()
      assert.deepEqual(departures, ['both', 'both'])
    },
  ),

  scenario('skip: a request may go unpaced', plainOnly, async ({ a, send, departures }) => {
    await send({ url: a.url('/ok') }).response()
    await send({ url: a.url('/ok'), skip: true }).response()
    assert.deepEqual(departures, [a.origin])
  }),

  ...[
    ['hostpace.skip', { skip: '5' }],
    ['hostpace.maxWait', { maxWait: 5 }],
    ['hostpace.priority', { priority: '5' }],
    ['hostpace.cost', { cost: 1.5 }],
  ].map(([path, wrong]) =>
    scenario(`an option that makes no sense is refused by name: ${path}`, plainOnly, async (setting) => {
      const { a, driver, send, pacer } = setting
      const error = driver.causeOf(await send({ url: a.url('/wrong'), ...(wrong as object) }).error())
      assert.deepEqual({ name: 'PolicyError', path }, { name: (error as Error).name, path: pathOf(error) })
      await send({ url: a.url('/right') }).response()
      assert.deepEqual(a.paths, ['/right'])
      assert.equal(pacer.stats().total.departures, 1)
    }),
  ),

  scenario('reservation: a request may go at the time that was reserved for it', plainOnly, async (setting) => {
    const { a, send, waiting, clock, pacer } = setting
    await send({ url: a.url('/first') }).response()
    const reservation = await pacer.reserve(a.url('/reserved'))
    assert.equal(reservation.waitMs, 1000)
    const other = send({ url: a.url('/other') })
    await waiting(1)
    let waits = 0
    pacer.on('wait', () => void waits++)
    const reserved = send({ url: a.url('/reserved'), reservation })
    await until(() => waits > 0, 'the request with the reservation to wait')
    await clock.advanceAsync(1000)
    await reserved.settled()
    await clock.advanceAsync(1000)
    await other.settled()
    assert.deepEqual(a.paths, ['/first', '/reserved', '/other'])
  }),
]

function pathOf(error: unknown): unknown {
  return (error as { path?: unknown }).path
}
