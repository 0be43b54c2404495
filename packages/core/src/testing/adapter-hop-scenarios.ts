import assert from 'node:assert/strict'
import { type AdapterScenario, scenario } from './adapter-scenario.ts'
import { still, until } from './adapter-setting.ts'

/** Whatever leaves is paced, by the host it goes to; what does not leave costs nothing. */
export const hopScenarios: readonly AdapterScenario[] = [
  scenario('two requests to one host are an interval apart', {}, async ({ a, send, waiting, clock }) => {
    assert.equal((await send({ url: a.url('/ok') }).response()).body, 'ok')
    const second = send({ url: a.url('/ok') })
    await waiting(1)
    await clock.advanceAsync(999)
    await still()
    assert.equal(a.hits.length, 1)
    await clock.advanceAsync(1)
    assert.equal((await second.response()).status, 200)
    assert.equal(a.hits.length, 2)
  }),

  scenario('hosts do not wait for each other', {}, async ({ a, b, send, departures }) => {
    await send({ url: a.url('/ok') }).response()
    await send({ url: b.url('/ok') }).response()
    assert.deepEqual(departures, [a.origin, b.origin])
  }),

  scenario('one host written in several ways is one host', {}, async ({ a, send, waiting, clock, departures }) => {
    await send({ url: a.url('/ok') }).response()
    const second = send({ url: a.url('/ok').replace(/^https?:/, (scheme) => scheme.toUpperCase()) })
    await waiting(1)
    await clock.advanceAsync(1000)
    await second.response()
    assert.deepEqual(departures, [a.origin, a.origin])
  }),

  scenario(
    'each hop of a redirect to another host and back is paced by its own host',
    { needs: ['redirect'] },
    async ({ a, b, send, waiting, clock, departures, answers }) => {
      const back = b.url('/redirect', { to: a.url('/ok') })
      const sent = send({ url: a.url('/redirect', { to: back }) })
      await waiting(1)
      await still()
      assert.deepEqual([a.hits.length, b.hits.length], [1, 1])
      await clock.advanceAsync(1000)
      assert.equal((await sent.response()).body, 'ok')
      assert.deepEqual(departures, [a.origin, b.origin, a.origin])
      assert.deepEqual(answers, [
        [a.origin, 302],
        [b.origin, 302],
        [a.origin, 200],
      ])
    },
  ),

  scenario('a redirect to the same host waits for its interval', { needs: ['redirect'] }, async (setting) => {
    const { a, send, waiting, clock } = setting
    const sent = send({ url: a.url('/redirect', { to: '/ok' }) })
    await waiting(1)
    await clock.advanceAsync(999)
    await still()
    assert.equal(a.hits.length, 1)
    await clock.advanceAsync(1)
    assert.equal((await sent.response()).body, 'ok')
  }),

  scenario(
    'B01: a host that others redirect to is paced as well',
    { needs: ['redirect'] },
    async ({ a, b, send, newPacer, newClient, clock, waiting }) => {
      const hosts = { [a.origin]: { intervalMs: 1000 }, [b.origin]: { intervalMs: 10_000 } }
      const pacer = newPacer({ intervalMs: 1, hosts })
      const client = await newClient(pacer)
      const url = a.url('/redirect', { to: b.url('/ok') })
      const first = send({ url }, client)
      const second = send({ url }, client)
      await first.response()
      await waiting(1, pacer)
      assert.deepEqual([a.hits.length, b.hits.length], [1, 1])
      await clock.advanceAsync(1000)
      await until(() => a.hits.length === 2, 'the second request')
      await waiting(1, pacer)
      await clock.advanceAsync(8999)
      await still()
      assert.equal(b.hits.length, 1)
      await clock.advanceAsync(1)
      await second.response()
      assert.deepEqual([a.hits.length, b.hits.length], [2, 2])
    },
  ),

  scenario('a body that is sent on by a 307 costs both hosts once', { needs: ['redirect'] }, async (setting) => {
    const { a, b, send, departures } = setting
    const url = a.url('/redirect', { status: 307, to: b.url('/echo') })
    const { body } = await send({ url, method: 'POST', body: 'twelve bytes' }).response()
    assert.equal(JSON.parse(body).bytes, 12)
    assert.deepEqual(departures, [a.origin, b.origin])
  }),

  scenario('a redirect that is not followed is one hop', {}, async ({ a, send, departures, inFlight }) => {
    await send({ url: a.url('/redirect', { to: '/ok' }), followRedirects: false }).settled()
    await inFlight(0)
    assert.deepEqual(departures, [a.origin])
    assert.equal(a.hits.length, 1)
  }),

  scenario('each attempt of a retry is paced', { needs: ['retry'] }, async (setting) => {
    const { a, send, waiting, clock, departures, answers } = setting
    const sent = send({ url: a.url('/limited', { code: 503, times: 2 }), retries: 2 })
    for (const hits of [1, 2]) {
      await waiting(1)
      await still()
      assert.equal(a.hits.length, hits)
      await clock.advanceAsync(1000)
    }
    assert.equal((await sent.response()).body, 'ok')
    assert.equal(departures.length, 3)
    assert.deepEqual(
      answers.map(([, status]) => status),
      [503, 503, 200],
    )
  }),

  scenario('a URL that is none is the client’s to refuse, and costs nothing', {}, async (setting) => {
    const { send, newClient, departures, pacer } = setting
    const plain = (await send({ url: 'http://' }, await newClient()).error()) as Error
    const paced = (await send({ url: 'http://' }).error()) as Error
    assert.deepEqual([paced.name, paced.message], [plain.name, plain.message])
    assert.deepEqual(departures, [])
    assert.equal(pacer.stats().total.inFlight, 0)
  }),

  scenario('what does not leave costs nothing', {}, async ({ send, departures }) => {
    await send({ url: 'data:text/plain,hello' }).settled()
    assert.deepEqual(departures, [])
  }),

  scenario('connections are kept or not as without pacing', {}, async ({ a, b, send, newClient, clock }) => {
    const plain = await newClient()
    for (let n = 0; n < 3; n++) {
      await send({ url: a.url('/ok') }, plain).response()
      await send({ url: b.url('/ok') }).response()
      await clock.advanceAsync(1000)
    }
    assert.equal(b.connections, a.connections)
  }),

  scenario('another client of the same library is left alone', {}, async ({ a, send, newClient, departures }) => {
    const plain = await newClient()
    for (let n = 0; n < 3; n++) await send({ url: a.url('/ok') }, plain).response()
    assert.deepEqual(departures, [])
  }),
]
