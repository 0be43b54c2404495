/** C06: a client's own retry comes back when it likes; the host sees it when it said. */
import { pace as paceAxios } from '@hostpace/axios'
import { createPacer, type Pacer } from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'
import { pace as paceGot } from '@hostpace/got'
import { pace as paceUndici } from '@hostpace/undici'
import axios from 'axios'
import axiosRetry from 'axios-retry'
import got from 'got'
import { Agent, interceptors, type RetryHandler, request } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { startTarget } from '../packages/core/src/testing/target-server.ts'

function byUndici(pacer: Pacer, retry?: RetryHandler.RetryOptions): (url: string) => Promise<unknown> {
  const agent = new Agent()
  onTestFinished(() => agent.destroy())
  const dispatcher = agent.compose(paceUndici(pacer), interceptors.retry(retry))
  return async (url) => (await request(url, { dispatcher })).body.dump()
}

/** Each comes back after about a millisecond, whatever the host says. */
const hasty: Record<string, (pacer: Pacer) => (url: string) => Promise<unknown>> = {
  'got with a delay of its own': (pacer) => {
    const client = got.extend(paceGot(pacer), {
      retry: { limit: 1, calculateDelay: ({ attemptCount }) => (attemptCount > 1 ? 0 : 1) },
    })
    return (url) => client(url)
  },
  'axios-retry with a delay of its own': (pacer) => {
    const client = axios.create({ proxy: false })
    axiosRetry(client, { retries: 1, retryCondition: () => true, retryDelay: () => 1 })
    paceAxios(client, pacer)
    return (url) => client.get(url)
  },
  'undici, which waits no longer than its maximum': (pacer) =>
    byUndici(pacer, { maxRetries: 1, minTimeout: 1, maxTimeout: 1 }),
}

test.each(Object.entries(hasty))('%s: a Retry-After of 120 is not cut', async (_name, make) => {
  const target = await startTarget()
  const clock = new ManualClock()
  const pacer = createPacer({ clock, rate: 100 })
  onTestFinished(async () => {
    await pacer.close()
    await target.close()
  })
  const sent = make(pacer)(target.url('/limited', { after: 120 }))
  await expect.poll(() => pacer.stats().total.queued).toBe(1)
  await clock.advanceAsync(119_999)
  expect(target.hits).toHaveLength(1)
  await clock.advanceAsync(1)
  await sent
  expect(target.hits).toHaveLength(2)
})

/** Each waits by itself as long as the host says. */
const patient: Record<string, (pacer: Pacer) => (url: string) => Promise<unknown>> = {
  got: (pacer) => {
    const client = got.extend(paceGot(pacer))
    return (url) => client(url)
  },
  'axios-retry': (pacer) => {
    const client = axios.create({ proxy: false })
    axiosRetry(client, { retries: 1, retryCondition: () => true })
    paceAxios(client, pacer)
    return (url) => client.get(url)
  },
  undici: (pacer) => byUndici(pacer),
}

test.each(Object.entries(patient))('%s: a Retry-After of 2 is waited once', async (_name, make) => {
  const target = await startTarget()
  const pacer = createPacer({ rate: 100 })
  onTestFinished(async () => {
    await pacer.close()
    await target.close()
  })
  await make(pacer)(target.url('/limited', { after: 2 }))
  const [first, second] = target.hits.map(({ atMs }) => atMs)
  const waitedMs = (second as number) - (first as number)
  expect(waitedMs).toBeGreaterThanOrEqual(1990)
  // Not twice; how late a busy machine is says nothing.
  expect(waitedMs).toBeLessThan(3500)
})
