import { createPacer } from '@hostpace/core'
import { pace } from '@hostpace/got'
import type { OptionsInit } from 'got'
import { TimeoutError } from 'got'
import { describe, expect, onTestFinished, test } from 'vitest'
import { later, pacedGot, serve } from './paced-got.ts'

/** Milliseconds of real time: time-outs, and a wait that is longer. */
const timeoutMs = 300
const waitMs = 450

const every = Object.fromEntries(
  ['lookup', 'connect', 'secureConnect', 'socket', 'send', 'response', 'read', 'request'].map((name) => [
    name,
    timeoutMs,
  ]),
)

/** `/busy` is busy once, `/never` never answers. */
function site() {
  return serve((request, response) => {
    if (request.url === '/never') return
    if (request.url === '/r') response.writeHead(302, { location: '/ok' }).end()
    else response.end('ok')
  })
}

function wait(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, waitMs))
}

describe('no time-out of got counts a wait', () => {
  test.each([
    ['of the first hop', '/ok', {}],
    ['of a redirect', '/r', {}],
    ['below a cache', '/ok', { cache: new Map() }],
  ])('%s', async (_name, path, more) => {
    const { origin } = await site()
    const { client, waiting, clock } = pacedGot({ intervalMs: 1000 })
    if (path === '/ok') await client(origin)
    const sent = client(origin + path, { timeout: every, retry: { limit: 0 }, ...(more as object) })
    await waiting(1)
    await wait()
    await clock.advanceAsync(1000)
    expect(await sent.text()).toBe('ok')
  })

  test('of a stream', async () => {
    const { origin } = await site()
    const { client, waiting, clock } = pacedGot({ intervalMs: 1000 })
    await client(origin)
    const stream = client.stream(origin, { timeout: every, retry: { limit: 0 } })
    await waiting(1)
    await wait()
    await clock.advanceAsync(1000)
    expect(Buffer.concat(await stream.toArray()).toString()).toBe('ok')
  })
})

describe('after a wait', () => {
  async function neverAnswered(more: OptionsInit, path = '/never') {
    const { origin } = await site()
    const paced = pacedGot({ intervalMs: 1000 })
    await paced.client(origin)
    const failed = later(paced.client(origin + path, { retry: { limit: 0 }, isStream: false, ...more }))
    await paced.waiting(1)
    await wait()
    expect(paced.outcomes).toEqual([200])
    await paced.clock.advanceAsync(1000)
    const error = await failed
    await paced.inFlight(0)
    return { error, outcomes: paced.outcomes }
  }

  test.each(['request', 'response', 'socket'])('a time-out ends what is not answered (%s)', async (name) => {
    const { error, outcomes } = await neverAnswered({ timeout: { [name]: 100 } })
    expect(error).toBeInstanceOf(TimeoutError)
    expect(error).toMatchObject({ code: 'ETIMEDOUT', event: name })
    expect(outcomes).toEqual([200, expect.objectContaining({ code: 'ETIMEDOUT' })])
  })
})

describe('each attempt has the whole budget and no more', () => {
  const retry = { limit: 1, calculateDelay: ({ computedValue }: { computedValue: number }) => computedValue && 1 }

  /** The first attempt waits and is refused, the second is never answered. */
  async function secondAttempt(more: OptionsInit, pacers = 1) {
    let nth = 0
    const { origin } = await serve((_request, response) => {
      if (++nth === 1) response.end()
      else if (nth === 2) response.writeHead(302, { location: '/busy' }).end()
      else if (nth === 3) response.writeHead(503).end()
    })
    const { client, waiting, clock } = pacedGot({ concurrency: 1, rules: [] } as never)
    return { origin, client, waiting, clock, more, pacers }
  }
  void secondAttempt

  async function play(more: OptionsInit, pacerCount = 1) {
    let nth = 0
    const { origin } = await serve((_request, response) => {
      nth++
      if (nth === 1) response.end()
      else if (nth === 2) response.writeHead(302, { location: '/busy' }).end()
      else if (nth === 3) response.writeHead(503).end()
    })
    const { client, waiting, clock } = pacedGot({ intervalMs: 1000, adapt: false })
    const other = createPacer({ rate: 1000 })
    onTestFinished(() => other.close())
    const paced = pacerCount === 2 ? client.extend(pace(other)) : client
    await paced(origin)
    const failed = later(paced(origin, { retry, timeout: { request: timeoutMs }, isStream: false, ...more }))
    for (const realMs of [waitMs, waitMs, 0]) {
      await waiting(1)
      await new Promise((resolve) => setTimeout(resolve, realMs))
      await clock.advanceAsync(1000)
    }
    return failed
  }

  const budget = (error: Error | unknown) => Number(/for (\d+)(\.\d+)?ms/.exec(String(error))?.[1])

  test.each([1, 2])('the caller’s (%i pacers)', async (pacerCount) => {
    const error = await play({}, pacerCount)
    expect(error).toBeInstanceOf(TimeoutError)
    // got 16 says the time with what was waited for in this attempt: next to nothing.
    expect(budget(error)).toBeGreaterThanOrEqual(timeoutMs)
    expect(budget(error)).toBeLessThan(timeoutMs + waitMs)
  })

  test('or what a hook has made of it meanwhile', async () => {
    const beforeRetry = (error: { options?: unknown }) => {
      ;(error.options as { timeout: object }).timeout = { request: 2 * waitMs }
    }
    const error = await play({ hooks: { beforeRetry: [beforeRetry] } })
    expect(budget(error)).toBeGreaterThanOrEqual(2 * waitMs)
  })
})
