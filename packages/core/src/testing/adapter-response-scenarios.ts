import assert from 'node:assert/strict'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type AdapterScenario, plainOnly, scenario } from './adapter-scenario.ts'
import { still, until } from './adapter-setting.ts'

/** Answers of every hop are handed to the pacer, and a permit is held until its body is over. */
export const responseScenarios: readonly AdapterScenario[] = [
  scenario('a 429 holds those who wait already, and no other host', { adapt: true, ...plainOnly }, async (setting) => {
    const { a, b, send, waiting, clock } = setting
    send({ url: a.url('/limited', { after: 7 }) })
    await until(() => a.hits.length === 1, 'the first request')
    const others = []
    for (let n = 1; n <= 4; n++) {
      others.push(send({ url: a.url(`/r${n}`) }))
      await waiting(n)
    }
    await until(() => setting.answers.length === 1, 'the answer')
    await clock.advanceAsync(6999)
    assert.equal((await send({ url: b.url('/ok') }).response()).body, 'ok')
    await still()
    assert.equal(a.hits.length, 1)
    await clock.advanceAsync(1)
    for (let n = 1; n <= 4; n++) {
      await others[n - 1]?.settled()
      assert.equal(a.hits.length, 1 + n)
      await clock.advanceAsync(1000)
    }
  }),

  scenario(
    'Retry-After is waited once: the client’s delay counts',
    { needs: ['retry'], rate: 1000, adapt: true, ...plainOnly },
    async (setting) => {
      const { a, send, clock } = setting
      const sent = send({ url: a.url('/limited', { after: 1 }), retries: 1 })
      await until(() => setting.answers.length === 1, 'the 429')
      await clock.advanceAsync(1000)
      assert.equal((await sent.response()).body, 'ok')
      assert.equal(clock.now(), 1000)
    },
  ),

  scenario(
    'Retry-After is waited once: the pacer holds the rest',
    { needs: ['retry'], rate: 1000, adapt: true, ...plainOnly },
    async (setting) => {
      const { a, send, clock, waiting } = setting
      const sent = send({ url: a.url('/limited', { after: 1 }), retries: 1 })
      await waiting(1)
      await clock.advanceAsync(999)
      await still()
      assert.equal(a.hits.length, 1)
      await clock.advanceAsync(1)
      assert.equal((await sent.response()).body, 'ok')
    },
  ),

  scenario(
    'a Retry-After on a redirect holds the hop that follows',
    { needs: ['redirect'], rate: 1000, adapt: true },
    async (setting) => {
      const { a, send, clock, waiting } = setting
      const sent = send({ url: a.url('/redirect', { to: '/ok', after: 5 }) })
      await waiting(1)
      await clock.advanceAsync(4999)
      await still()
      assert.equal(a.hits.length, 1)
      await clock.advanceAsync(1)
      assert.equal((await sent.response()).body, 'ok')
    },
  ),

  scenario(
    'an answer is seen while its body still comes, and the permit held until it has',
    { concurrency: 1, rate: 1000 },
    async (setting) => {
      const { a, client, send, waiting, inFlight, answers, clock } = setting
      const body = await client.open({ url: a.url('/slow-body') })
      assert.deepEqual(answers, [[a.origin, 200]])
      const second = send({ url: a.url('/ok') })
      await waiting(1)
      await clock.advanceAsync(10_000)
      await still()
      assert.equal(a.hits.length, 1)
      a.finish()
      assert.equal(await text(body), 'first, last')
      assert.equal((await second.response()).body, 'ok')
      await inFlight(0)
    },
  ),

  scenario('a body that is thrown away frees the permit', { concurrency: 1, rate: 1000 }, async (setting) => {
    const { a, client, send, inFlight, clock } = setting
    const body = (await client.open({ url: a.url('/slow-body') })) as Readable
    body.on('error', () => {})
    await inFlight(1)
    body.destroy()
    await inFlight(0)
    await clock.advanceAsync(1)
    await send({ url: a.url('/ok') }).response()
  }),

  scenario('answers without a body free the permit', { concurrency: 1, rate: 1000 }, async (setting) => {
    const { a, send, inFlight, clock, answers } = setting
    await send({ url: a.url('/empty') }).response()
    await inFlight(0)
    await clock.advanceAsync(1)
    await send({ url: a.url('/ok'), method: 'HEAD' }).response()
    await inFlight(0)
    assert.deepEqual(
      answers.map(([, status]) => status),
      [204, 200],
    )
  }),

  scenario('a big body arrives whole', {}, async ({ a, client, inFlight }) => {
    const body = await client.open({ url: a.url('/big', { bytes: 3_000_000 }) })
    let bytes = 0
    for await (const chunk of body) bytes += chunk.length
    assert.equal(bytes, 3_000_000)
    await inFlight(0)
  }),
]
