import { createPacer, type PacerOptions } from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'
import { pace } from '@hostpace/undici'
import { fetch, interceptors, MockAgent, request } from 'undici'
import { expect, onTestFinished, test } from 'vitest'

function setUp(options: PacerOptions = {}) {
  const clock = new ManualClock()
  const pacer = createPacer({ intervalMs: 1000, clock, ...options })
  const mocks = new MockAgent()
  mocks.disableNetConnect()
  onTestFinished(async () => {
    await pacer.close()
    await mocks.close()
  })
  return { clock, pacer, mocks, dispatcher: mocks.compose(pace(pacer)) }
}

/** Lets what is on its way arrive; nothing here depends on how long it takes. */
const still = () => new Promise((resolve) => setTimeout(resolve, 25))

test.each([
  ['request', async (url: string, options: object) => (await request(url, options)).body.text()],
  ['fetch', async (url: string, options: object) => (await fetch(url, options)).text()],
])('mocks are paced: %s', async (_name, get) => {
  const { clock, pacer, mocks, dispatcher } = setUp()
  mocks.get('http://a.example').intercept({ path: '/x' }).reply(200, 'mocked').times(2)
  expect(await get('http://a.example/x', { dispatcher })).toBe('mocked')
  let second: string | undefined
  const sending = get('http://a.example/x', { dispatcher }).then((text) => {
    second = text
  })
  await still()
  expect(second).toBeUndefined()
  await clock.advanceAsync(1000)
  await sending
  expect(second).toBe('mocked')
  expect(pacer.stats().total).toMatchObject({ departures: 2, inFlight: 0 })
})

test('a mocked 429 holds its host', async () => {
  const { pacer, mocks, dispatcher } = setUp()
  mocks
    .get('http://a.example')
    .intercept({ path: '/x' })
    .reply(429, 'slow down', { headers: { 'retry-after': '7' } })
  const { statusCode, body } = await request('http://a.example/x', { dispatcher })
  await body.dump()
  expect(statusCode).toBe(429)
  expect((await pacer.peek('http://a.example')).waitMs).toBe(7000)
})

test('a mocked redirect is paced at both of its hosts', async () => {
  const { pacer, mocks, dispatcher } = setUp()
  mocks
    .get('http://a.example')
    .intercept({ path: '/x' })
    .reply(302, '', { headers: { location: 'http://b.example/y' } })
  mocks.get('http://b.example').intercept({ path: '/y' }).reply(200, 'there')
  const following = dispatcher.compose(interceptors.redirect({ maxRedirections: 1 }))
  const { body } = await request('http://a.example/x', { dispatcher: following })
  expect(await body.text()).toBe('there')
  const departures = Object.entries(pacer.stats().hosts).map(([key, host]) => [key, host.departures])
  expect(departures).toEqual([
    ['http://a.example', 1],
    ['http://b.example', 1],
  ])
})

test('a mocked network error stays what it is, and was an attempt', async () => {
  const { pacer, mocks, dispatcher } = setUp()
  const error = Object.assign(new Error('reset'), { code: 'ECONNRESET' })
  mocks.get('http://a.example').intercept({ path: '/x' }).replyWithError(error)
  await expect(request('http://a.example/x', { dispatcher })).rejects.toBe(error)
  expect((await pacer.peek('http://a.example')).waitMs).toBe(1000)
  expect(pacer.stats().total).toMatchObject({ departures: 1, inFlight: 0 })
})

test('a request that nobody mocked fails as without pacing', async () => {
  const { pacer, mocks, dispatcher } = setUp()
  const plain: Error = await request('http://a.example/x', { dispatcher: mocks }).catch((error) => error)
  await expect(request('http://a.example/x', { dispatcher })).rejects.toThrow(plain.message)
  expect(pacer.stats().total.inFlight).toBe(0)
})
