import { createPacer, type Pacer } from '@hostpace/core'
import { pace } from '@hostpace/got'
import got, { type OptionsInit, TimeoutError } from 'got'
import { describe, expect, onTestFinished, test } from 'vitest'
import { later, pacedGot, serve } from './paced-got.ts'

type PromiseOptions = OptionsInit & { isStream?: never }

/** Milliseconds of real time: time-outs, and a wait that is longer. */
const timeoutMs = 300
const waitMs = 450

/** got 16 has one budget for all hops of an attempt; what was waited for is added to it. */
const isGrowing = 'mergeNextRequestOptions' in got.defaults.options

/** All that got has. */
const every = Object.fromEntries(
  ['lookup', 'connect', 'secureConnect', 'socket', 'send', 'response', 'read', 'request'].map((name) => [
    name,
    timeoutMs,
  ]),
)

/** `/r` moves to `/ok`, `/never` never answers. */
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
  async function neverAnswered(more: PromiseOptions) {
    const { origin } = await site()
    const paced = pacedGot({ intervalMs: 1000 })
    await paced.client(origin)
    const failed = later(paced.client(`${origin}/never`, { retry: { limit: 0 }, ...more }))
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
    if (!isGrowing) expect(budgetMs(error)).toBe(100)
  })
})

/** What the error says that it has waited for. got 16 counts what was waited for in this attempt as well. */
function budgetMs(error: unknown): number {
  return Number(/for ([\d.]+)ms/.exec(String(error))?.[1])
}

describe('each attempt has the whole budget and no more', () => {
  const retry = { limit: 1, calculateDelay: ({ computedValue }: { computedValue: number }) => computedValue && 1 }

  /** The first attempt has two hops that wait and is refused, the second is never answered. */
  async function secondAttempt(more: PromiseOptions, ...others: Pacer[]) {
    const { origin, paths } = await serve((_request, response) => {
      if (paths.length === 1) response.end()
      else if (paths.length === 2) response.writeHead(302, { location: '/busy' }).end()
      else if (paths.length === 3) response.writeHead(503).end()
    })
    const { client, waiting, clock } = pacedGot({ intervalMs: 1000, adapt: false })
    const paced = client.extend(...others.map((other) => pace(other)))
    await paced(origin)
    const failed = later(paced(origin, { retry, timeout: { request: timeoutMs }, ...more }))
    for (const isSecondAttempt of [false, false, true]) {
      await waiting(1)
      if (!isSecondAttempt) await wait()
      await clock.advanceAsync(1000)
    }
    return failed
  }

  test('the caller’s', async () => {
    const error = await secondAttempt({})
    expect(error).toBeInstanceOf(TimeoutError)
    expect(budgetMs(error)).toBeGreaterThanOrEqual(timeoutMs)
    expect(budgetMs(error)).toBeLessThan(timeoutMs + waitMs)
  })

  test('the caller’s, with two pacers', async () => {
    const other = createPacer({ rate: 1000 })
    onTestFinished(() => other.close())
    const error = await secondAttempt({}, other)
    expect(budgetMs(error)).toBeGreaterThanOrEqual(timeoutMs)
    expect(budgetMs(error)).toBeLessThan(timeoutMs + waitMs)
  })

  test('also for the waits of its later hops', async () => {
    const { origin, paths } = await serve((_request, response) => {
      if (paths.length === 1) response.writeHead(503).end()
      else if (paths.length === 2) response.writeHead(302, { location: '/ok' }).end()
      else response.end('ok')
    })
    const { client, waiting, clock } = pacedGot({ intervalMs: 1000, adapt: false })
    const sent = client(origin, { retry, timeout: { request: timeoutMs } }).text()
    for (const _hop of [2, 3]) {
      await waiting(1)
      await wait()
      await clock.advanceAsync(1000)
    }
    expect(await sent).toBe('ok')
  })

  const changed = (options: OptionsInit) => {
    Object.assign(options.timeout as object, { request: 2 * waitMs })
  }
  test.each([
    ['before a redirect', { beforeRedirect: [changed as never] }],
    ['before a retry', { beforeRetry: [({ options }) => changed(options as OptionsInit)] }],
  ] satisfies [string, OptionsInit['hooks']][])('or what a hook has made of it %s', async (_when, hooks) => {
    expect(budgetMs(await secondAttempt({ hooks }))).toBeGreaterThanOrEqual(2 * waitMs)
  })
})

test('a hook may change the time-out of a request that has waited', async () => {
  const { origin } = await site()
  const { client, waiting, clock, outcomes } = pacedGot({ intervalMs: 1000 })
  await client(origin)
  let isFirst = true
  const sent = client(origin, {
    timeout: { request: 10_000 },
    hooks: {
      afterResponse: [
        (response, retryWithMergedOptions) => {
          if (!isFirst) return response
          isFirst = false
          return retryWithMergedOptions({ timeout: { request: 20_000 } })
        },
      ],
    },
  })
  for (const _attempt of [1, 2]) {
    await waiting(1)
    await clock.advanceAsync(1000)
  }
  expect((await sent).request.options.timeout.request).toBeGreaterThanOrEqual(20_000)
  expect(outcomes).toEqual([200, 200, 200])
})
