import { pace } from '@hostpace/axios'
import axios from 'axios'
import axiosRetry from 'axios-retry'
import { describe, expect, test } from 'vitest'
import { RecordingPacer } from './support/recording-pacer.ts'
import { serve, sleep } from './support/server.ts'

type Order = 'retry first' | 'pace first'

function paced(adapter: string, order: Order, retryDelay?: () => number) {
  const pacer = new RecordingPacer()
  const client = axios.create({ adapter, proxy: false })
  const retry = () => axiosRetry(client, { retries: 3, ...(retryDelay && { retryDelay }) })
  if (order === 'retry first') retry()
  pace(client, pacer.asPacer)
  if (order === 'pace first') retry()
  return { pacer, client }
}

const failTwice = () =>
  serve((_request, response, nth) => response.writeHead(nth < 2 ? 503 : 200, { 'x-nth': String(nth) }).end('body'))

describe.each([
  ['http', 'retry first'],
  ['http', 'pace first'],
  ['fetch', 'retry first'],
  ['fetch', 'pace first'],
] as const)('axios-retry over the %s adapter, %s', (adapter, order) => {
  test('acceptance 3: each attempt is paced and observed once', async () => {
    const a = await failTwice()
    const { pacer, client } = paced(adapter, order)
    const response = await client.get(a.origin)
    expect(response.data).toBe('body')
    expect(pacer.statuses).toEqual([503, 503, 200])
    expect(pacer.states).toEqual(['over', 'over', 'over'])
    expect(a.hits).toHaveLength(3)
  })

  test('acceptance 15: the waits of a slow lane do not use up the time-out of the retries', async () => {
    const a = await failTwice()
    const { pacer, client } = paced(adapter, order, () => 1)
    pacer.holds = () => true
    const sending = client.get(a.origin, { timeout: 150 })
    for (const nth of [0, 1, 2]) {
      const wait = await pacer.nth(nth)
      await sleep(200)
      wait.grant()
    }
    expect((await sending).status).toBe(200)
    expect(pacer.statuses).toEqual([503, 503, 200])
  })

  test('acceptance 9: an abort while the second attempt waits', async () => {
    const a = await failTwice()
    const { pacer, client } = paced(adapter, order)
    pacer.holds = (_url, nth) => nth === 1
    const controller = new AbortController()
    const sending = client.get(a.origin, { signal: controller.signal }).catch((error) => error)
    await pacer.nth(1)
    controller.abort()
    expect(await sending).toBeInstanceOf(axios.CanceledError)
    expect(pacer.states).toEqual(['over', 'aborted'])
    expect(a.hits).toHaveLength(1)
  })

  test('acceptance 24: what a pacer refuses is not retried and is no cancellation', async () => {
    const { pacer, client } = paced(adapter, order)
    pacer.holds = () => true
    const sending = client.get('http://127.0.0.1:9/').catch((error) => error)
    const refusal = Object.assign(new Error('full'), { code: 'ERR_HOSTPACE_QUEUE_FULL' })
    ;(await pacer.nth(0)).refuse(refusal)
    const error = await sending
    expect(error).toBeInstanceOf(axios.AxiosError)
    expect(axios.isCancel(error)).toBe(false)
    expect(error.cause).toBe(refusal)
    expect(error.code).toBe('ERR_HOSTPACE_QUEUE_FULL')
    expect(pacer.waits).toHaveLength(1)
  })
})
