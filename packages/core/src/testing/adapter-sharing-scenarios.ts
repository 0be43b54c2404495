import assert from 'node:assert/strict'
import { type AdapterScenario, plainOnly, scenario } from './adapter-scenario.ts'
import { type AdapterSetting, still, until } from './adapter-setting.ts'

/** Several clients with one pacer, one client with several pacers, and one pacer installed several times. */
export const sharingScenarios: readonly AdapterScenario[] = [
  scenario('clients that share a pacer are served first come, first served', {}, async (setting) => {
    const { a, client, pacer, send, newClient, waiting, clock } = setting
    const other = await newClient(pacer)
    await send({ url: a.url('/r0') }).response()
    const sends = []
    for (let n = 1; n <= 5; n++) {
      sends.push(send({ url: a.url(`/r${n}`) }, n % 2 === 0 ? client : other))
      await waiting(n)
    }
    for (const sent of sends) {
      await clock.advanceAsync(1000)
      await sent.settled()
    }
    assert.deepEqual(a.paths, ['/r0', '/r1', '/r2', '/r3', '/r4', '/r5'])
  }),

  scenario('B05: a pacer that is installed three times charges once', {}, async (setting) => {
    const { a, client, send, waiting, clock, departures, inFlight } = setting
    client.installAgain()
    client.installAgain()
    await send({ url: a.url('/ok') }).response()
    for (let n = 2; n <= 3; n++) {
      const sent = send({ url: a.url('/ok') })
      await waiting(1)
      await clock.advanceAsync(999)
      await still()
      assert.equal(a.hits.length, n - 1)
      await clock.advanceAsync(1)
      await sent.response()
    }
    assert.equal(departures.length, 3)
    await inFlight(0)
  }),

  scenario(
    'a pacer that is installed twice charges each hop once',
    { needs: ['redirect'], concurrency: 1 },
    async (setting) => {
      const { a, b, client, send, departures, answers, inFlight } = setting
      client.installAgain()
      await send({ url: a.url('/redirect', { to: b.url('/ok') }) }).response()
      await inFlight(0)
      assert.deepEqual(departures, [a.origin, b.origin])
      assert.deepEqual(answers, [
        [a.origin, 302],
        [b.origin, 200],
      ])
    },
  ),

  scenario('two pacers each charge once, and the longer wait wins', plainOnly, (setting) =>
    paceByTwo(setting, 'slow last'),
  ),
  scenario('two pacers, installed the other way round', plainOnly, (setting) => paceByTwo(setting, 'slow first')),

  scenario('two pacers each charge every hop', { needs: ['redirect'] }, async (setting) => {
    const { a, b, pacer, newPacer, newClient, send, departures, inFlight } = setting
    const other = newPacer({ intervalMs: 1000 })
    const keys: string[] = []
    other.on('depart', ({ key }) => void keys.push(key))
    const both = await newClient(pacer, other)
    await send({ url: a.url('/redirect', { to: b.url('/ok') }) }, both).response()
    assert.deepEqual(departures, [a.origin, b.origin])
    assert.deepEqual(keys, departures)
    await inFlight(0)
    await inFlight(0, other)
  }),

  scenario('two pacers: an abort while the second lets it wait gives both places back', {}, async (setting) => {
    const { a, pacer, newPacer, newClient, send, driver, inFlight, clock, client } = setting
    const slow = newPacer({ intervalMs: 9000 })
    const both = await newClient(pacer, slow)
    await send({ url: a.url('/ok') }, both).response()
    await clock.advanceAsync(2000)
    const abort = new AbortController()
    const sent = send({ url: a.url('/aborted'), signal: abort.signal }, both)
    await until(() => slow.stats().total.queued === 1, 'the second request to wait')
    abort.abort()
    assert.ok(driver.isAbort(await sent.error(), abort.signal))
    await inFlight(0)
    await inFlight(0, slow)
    await send({ url: a.url('/ok') }, client).response()
    assert.deepEqual(a.paths, ['/ok', '/ok'])
  }),
]

async function paceByTwo(setting: AdapterSetting, order: 'slow first' | 'slow last'): Promise<void> {
  const { a, client, clock, departures, newClient, newPacer, pacer, send } = setting
  const slow = newPacer({ intervalMs: 3000 })
  const both = await newClient(...(order === 'slow first' ? [slow, pacer] : [pacer, slow]))
  await send({ url: a.url('/ok') }, both).response()
  const second = send({ url: a.url('/ok') }, both)
  await until(() => pacer.stats().total.queued + slow.stats().total.queued > 0, 'the second request to wait')
  // Wherever it waits first, it waits for the other one after that.
  await clock.advanceAsync(1500)
  await still()
  await clock.advanceAsync(1499)
  await still()
  assert.equal(a.hits.length, 1)
  await clock.advanceAsync(1)
  await second.response()
  assert.deepEqual([departures.length, slow.stats().total.departures], [2, 2])

  // Both were charged when the request really left, so whoever asks only one of them is as far from it.
  const third = send({ url: a.url('/ok') }, client)
  await until(() => pacer.stats().total.queued === 1, 'the third request to wait')
  await clock.advanceAsync(999)
  await still()
  assert.equal(a.hits.length, 2)
  await clock.advanceAsync(1)
  await third.response()
}
