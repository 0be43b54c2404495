import { pace } from '@hostpace/axios'
import { createPacer, type PacerOptions } from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'
import axios from 'axios'
import axiosRetry from 'axios-retry'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { redirectTo, serve, sleep, type TestServer } from './support/server.ts'

/** A client on a clock of its own. */
function paced(adapter: string, options: PacerOptions) {
  const clock = new ManualClock()
  const pacer = createPacer({ adapt: false, ...options, clock })
  onTestFinished(() => pacer.close())
  const client = axios.create({ adapter, proxy: false })
  pace(client, pacer)
  return {
    pacer,
    client,
    /** Waits until so many requests wait, moves the clock on and gives what would leave too early the time to arrive. */
    async run(queued: number, ms: number) {
      await expect.poll(() => pacer.stats().total.queued).toBe(queued)
      await clock.advanceAsync(ms)
      await sleep(25)
    },
  }
}

/** Waits until the servers have had so many requests. */
const hits = (servers: TestServer[], counts: number[]) =>
  expect.poll(() => servers.map((server) => server.hits.length)).toEqual(counts)

describe.each(['http', 'fetch'])('cases from public reports by the %s adapter', (adapter) => {
  test('B01: each hop is charged to the host that it goes to', async () => {
    const b = await serve()
    const a = await serve(redirectTo(`${b.origin}/y`))
    const { pacer, client, run } = paced(adapter, {
      hosts: { [a.origin]: { intervalMs: 1000 }, [b.origin]: { intervalMs: 10_000 } },
    })
    const sending = Promise.all([client.get(`${a.origin}/x`), client.get(`${a.origin}/x`)])
    await hits([a, b], [1, 1])
    await run(1, 999)
    await hits([a, b], [1, 1])
    await run(1, 1)
    await hits([a, b], [2, 1])
    await run(1, 8999)
    await hits([a, b], [2, 1])
    await run(1, 1)
    await hits([a, b], [2, 2])
    await sending
    const { hosts } = pacer.stats()
    expect([hosts[a.origin]?.departures, hosts[b.origin]?.departures]).toEqual([2, 2])
  })

  test('B03: what cannot be sent before its signal ends is never sent', async () => {
    const a = await serve()
    const { client, run } = paced(adapter, { intervalMs: 1000 })
    const controllers = Array.from({ length: 5 }, () => new AbortController())
    const sending = controllers.map(({ signal }) => client.get(a.origin, { signal }).catch((error) => error))
    await hits([a], [1])
    await run(4, 1000)
    await hits([a], [2])
    await run(3, 1000)
    await hits([a], [3])
    await run(2, 500)
    for (const controller of controllers) controller.abort(new DOMException('late', 'TimeoutError'))
    const results = await Promise.all(sending)
    expect(results.map((result) => axios.isCancel(result))).toEqual([false, false, false, true, true])
    const sixth = client.get(a.origin)
    await run(1, 499)
    await hits([a], [3])
    await run(1, 1)
    await sixth
    expect(a.hits).toHaveLength(4)
  })

  test('B03: the time-out of the client starts when the request leaves', async () => {
    const a = await serve((_request, response) => setTimeout(() => response.end('ok'), 40))
    const { client, run } = paced(adapter, { intervalMs: 3000 })
    await client.get(a.origin)
    const sending = client.get(a.origin, { timeout: 150 })
    await sleep(250)
    await run(1, 3000)
    expect((await sending).data).toBe('ok')
  })

  test('B05: installed three times, each request is charged once', async () => {
    const a = await serve()
    const { pacer, client, run } = paced(adapter, { intervalMs: 1000 })
    pace(client, pacer)
    pace(client, pacer)
    const sending = Promise.all([1, 2, 3].map(() => client.get(a.origin)))
    await hits([a], [1])
    await run(2, 1000)
    await hits([a], [2])
    await run(1, 1000)
    await sending
    expect(a.hits).toHaveLength(3)
    expect(pacer.stats().total.departures).toBe(3)
  })

  test('B06: an abort in the queue is the cancellation that axios knows', async () => {
    const a = await serve()
    const { pacer, client, run } = paced(adapter, { intervalMs: 1000 })
    await client.get(a.origin)
    const controller = new AbortController()
    const sending = client.get(a.origin, { signal: controller.signal }).catch((error) => error)
    const next = client.get(a.origin)
    await expect.poll(() => pacer.stats().total.queued).toBe(2)
    controller.abort({ any: 'reason' })
    const error = await sending
    expect(axios.isCancel(error)).toBe(true)
    expect(error.code).toBe('ERR_CANCELED')
    expect(error.config.url).toBe(a.origin)
    await run(1, 1000)
    expect((await next).data).toBe('ok')
    expect(a.hits).toHaveLength(2)
  })

  test('acceptance 2: a redirect on the same host keeps the gap', async () => {
    const a = await serve((request, response, nth) =>
      request.url === '/redir' ? redirectTo('/ok')(request, response, nth) : response.end('ok'),
    )
    const { client, run } = paced(adapter, { intervalMs: 300, concurrency: 1 })
    const sending = client.get(`${a.origin}/redir`)
    await run(1, 299)
    expect(a.hits).toHaveLength(1)
    await run(1, 1)
    expect((await sending).data).toBe('ok')
  })

  test('acceptance 4: a 429 with Retry-After is waited once, whatever repeats it', async () => {
    const a = await serve((_request, response, nth) =>
      nth === 0 ? response.writeHead(429, { 'retry-after': '1' }).end() : response.end('ok'),
    )
    const client = axios.create({ adapter, proxy: false })
    const pacer = createPacer({ rate: '1000r/s' })
    onTestFinished(() => pacer.close())
    axiosRetry(client, { retries: 2, retryCondition: () => true, retryDelay: () => 5 })
    pace(client, pacer)
    await client.get(a.origin)
    const gapMs = (a.hits[1]?.atMs ?? 0) - (a.hits[0]?.atMs ?? 0)
    expect(gapMs).toBeGreaterThanOrEqual(1000)
    expect(gapMs).toBeLessThan(1900)
  })

  test('acceptance 5: a 429 holds those that wait already, and no other host', async () => {
    const a = await serve((_request, response, nth) =>
      nth === 0 ? response.writeHead(429, { 'retry-after': '30' }).end() : response.end('ok'),
    )
    const b = await serve()
    const { pacer, client, run } = paced(adapter, { intervalMs: 100, adapt: true })
    const sending = [1, 2, 3].map(() => client.get(a.origin).catch((error) => error))
    await sending[0]
    await run(2, 29_999)
    expect(a.hits).toHaveLength(1)
    await client.get(b.origin)
    for (let left = 2; left > 0; left--) {
      await run(left, 1)
      while (pacer.stats().total.queued === left) await run(left, 100)
    }
    await Promise.all(sending)
    expect(a.hits).toHaveLength(3)
  })

  test('acceptance 24: a full queue is an error of axios whose cause is ours', async () => {
    const a = await serve()
    const { client } = paced(adapter, { intervalMs: 1000, maxQueue: 1 })
    await client.get(a.origin)
    const controller = new AbortController()
    const waiting = client.get(a.origin, { signal: controller.signal }).catch((error) => error)
    const error = await client.get(a.origin).catch((error) => error)
    expect(error).toBeInstanceOf(axios.AxiosError)
    expect(error.code).toBe('ERR_HOSTPACE_QUEUE_FULL')
    expect(error.cause.code).toBe('ERR_HOSTPACE_QUEUE_FULL')
    controller.abort()
    await waiting
  })

  test('acceptance 31: a wait passes under fake timers', async () => {
    const a = await serve()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const pacer = createPacer({ intervalMs: 30_000, adapt: false })
    onTestFinished(() => pacer.close())
    const client = axios.create({ adapter, proxy: false })
    pace(client, pacer)
    await client.get(a.origin)
    const second = client.get(a.origin, { timeout: 1000 })
    await vi.advanceTimersByTimeAsync(29_000)
    expect(a.hits).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1000)
    expect((await second).data).toBe('ok')

    const controller = new AbortController()
    const third = client.get(a.origin, { signal: controller.signal }).catch((error) => error)
    await vi.advanceTimersByTimeAsync(100)
    controller.abort()
    expect(axios.isCancel(await third)).toBe(true)
    expect(a.hits).toHaveLength(2)
  })
})
