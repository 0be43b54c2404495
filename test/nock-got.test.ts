import { createPacer } from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'
import { pace } from '@hostpace/got'
import got from 'got'
import nock from 'nock'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'

function paced() {
  const clock = new ManualClock()
  const pacer = createPacer({ intervalMs: 1000, clock })
  onTestFinished(() => pacer.close())
  return { clock, pacer, client: got.extend(pace(pacer), { retry: { limit: 1 } }) }
}

beforeEach(() => {
  if (!nock.isActive()) nock.activate()
})
afterEach(() => {
  nock.cleanAll()
  nock.restore()
})

test('requests that nock answers are paced like any other, because nock takes the place of the network', async () => {
  nock('http://a.example').get('/x').times(2).reply(200, 'mocked')
  const { clock, pacer, client } = paced()
  expect(await client('http://a.example/x').text()).toBe('mocked')
  let isAnswered = false
  const second = client('http://a.example/x').text()
  void second.then(() => {
    isAnswered = true
  })
  await clock.advanceAsync(999)
  expect(isAnswered).toBe(false)
  await clock.advanceAsync(1)
  expect(await second).toBe('mocked')
  expect(pacer.stats().total).toMatchObject({ departures: 2, inFlight: 0 })
})

test('redirects between hosts that nock answers wait for each host', async () => {
  nock('http://a.example').get('/x').reply(302, '', { location: 'http://b.example/y' })
  nock('http://b.example').get('/y').reply(200, 'there')
  const { pacer, client } = paced()
  expect(await client('http://a.example/x').text()).toBe('there')
  const { hosts } = pacer.stats()
  expect([hosts['http://a.example']?.departures, hosts['http://b.example']?.departures]).toEqual([1, 1])
})

test('an error that nock plays is observed and frees the permit', async () => {
  nock('http://a.example').get('/x').replyWithError(new Error('played'))
  const { pacer, client } = paced()
  const errors: unknown[] = []
  pacer.on('observe', ({ error }) => errors.push((error as Error).message))
  await expect(client('http://a.example/x', { retry: { limit: 0 } })).rejects.toThrow('played')
  expect(errors).toEqual(['played'])
  expect(pacer.stats().total.inFlight).toBe(0)
})
