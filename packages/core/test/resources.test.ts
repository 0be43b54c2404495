import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPacer, type PacerOptions } from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'
import { describe, expect, test } from 'vitest'

const api = 'https://api.github.com'

function setUp(options: PacerOptions = { rate: 1000 }) {
  const clock = new ManualClock()
  const pacer = createPacer({ clock, ...options })
  const departures: string[] = []
  async function ask(path: string, headers: Record<string, string> = {}, status = 200) {
    const permit = await pacer.wait(`${api}${path}`)
    departures.push(`${path}@${clock.now()}`)
    permit.done({ status, headers })
  }
  const waitMs = async (path: string) => (await pacer.peek(`${api}${path}`)).waitMs
  return { clock, pacer, departures, ask, waitMs }
}

function budget(resource: string | undefined, remaining: number, reset = 60): Record<string, string> {
  return {
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(reset),
    ...(resource && { 'x-ratelimit-resource': resource }),
  }
}

describe('C08: a host with several budgets', () => {
  test('keeps them apart', async () => {
    const { ask, waitMs, departures, clock } = setUp()
    await ask('/search/code', budget('search', 0))
    await ask('/repos/a', budget('core', 4932, 3600))
    expect(await waitMs('/search/issues')).toBe(60_000)
    expect(await waitMs('/repos/b')).toBeLessThan(1000)
    const all = [ask('/search/issues', budget('search', 29)), ask('/repos/b', budget('core', 4931, 3600))]
    await clock.advanceAsync(60_000)
    await Promise.all(all)
    expect(departures.map((departure) => departure.replace(/\.\d+$/, ''))).toEqual([
      '/search/code@0',
      '/repos/a@0',
      '/repos/b@0',
      '/search/issues@60000',
    ])
  })

  test('without the header they are one', async () => {
    const { ask, waitMs } = setUp()
    await ask('/search/code', budget(undefined, 0))
    expect(await waitMs('/repos/b')).toBe(60_000)
  })

  test('a refusal for one budget holds no other; one with Retry-After holds the host', async () => {
    const { ask, waitMs } = setUp()
    await ask('/search/code', budget('search', 0), 403)
    await ask('/repos/a', budget('core', 4000, 3600))
    expect(await waitMs('/search/code')).toBe(60_000)
    expect(await waitMs('/repos/b')).toBeLessThan(1000)
    await ask('/repos/b', { ...budget('core', 3999, 3600), 'retry-after': '90' }, 403)
    expect(await waitMs('/repos/b')).toBe(90_000)
    expect(await waitMs('/gists')).toBe(90_000)
  })

  test('those who wait for one budget can give up, and wait no longer than they will', async () => {
    const { ask, pacer, clock } = setUp()
    await ask('/search/code', budget('search', 0))
    const url = `${api}/search/issues`
    await expect(pacer.wait(url, { maxWaitMs: 59_999 })).rejects.toMatchObject({
      code: 'ERR_HOSTPACE_WAIT_TOO_LONG',
      layer: 'published',
      waitMs: 60_000,
    })
    const giveUp = new AbortController()
    const aborted = pacer.wait(url, { signal: giveUp.signal })
    giveUp.abort('enough')
    await expect(aborted).rejects.toBe('enough')
    const waiting = pacer.wait(url)
    await clock.advanceAsync(60_000)
    const permit = await waiting
    expect(permit).toMatchObject({ key: api, waitedMs: 60_000, layer: 'published' })
    permit.sent()
    permit.observe({ status: 200 })
    permit.done()
    expect(pacer.stats().total).toMatchObject({ departures: 2, inFlight: 0, queued: 0 })
    expect(Object.keys(pacer.stats().hosts)).toEqual([api])
  })

  test('a request that its host refuses gives the budget back', async () => {
    const { ask, pacer, clock } = setUp({ rate: 1000, concurrency: 1 })
    await ask('/search/code', budget('search', 2, 10))
    const held = await pacer.wait(`${api}/repos`)
    const refused = pacer.wait(`${api}/search/x`, { maxWaitMs: 100 })
    refused.catch(() => {})
    await clock.advanceAsync(100)
    await expect(refused).rejects.toMatchObject({ layer: 'concurrency' })
    held.done()
    await clock.advanceAsync(5000)
    const permit = await pacer.wait(`${api}/search/x`)
    expect(permit.waitedMs).toBe(0)
    permit.done()
  })

  test('close ends those who wait for a budget', async () => {
    const { ask, pacer } = setUp()
    await ask('/search/code', budget('search', 0))
    const waiting = pacer.wait(`${api}/search/issues`)
    await pacer.close()
    await expect(waiting).rejects.toMatchObject({ code: 'ERR_HOSTPACE_CLOSED' })
  })

  test('explain shows them all', async () => {
    const { ask, pacer } = setUp()
    await ask('/search/code', budget('search', 7))
    await ask('/repos/a', budget('core', 4000, 3600))
    const { learned } = await pacer.explain(api)
    expect(learned?.published).toMatchObject([
      { name: 'search', remaining: 7 },
      { name: 'core', remaining: 4000 },
    ])
  })

  test('wait is told, with the resource', async () => {
    const { ask, pacer } = setUp()
    await ask('/search/code', budget('search', 0))
    const told: unknown[] = []
    pacer.on('wait', ({ key, waitMs, layer }) => void told.push([key, waitMs, layer]))
    void pacer.wait(`${api}/search/issues`).catch(() => {})
    expect(told).toEqual([[`${api} search`, 60_000, 'published']])
    await pacer.close()
  })
})

/** A server that lets so many requests of `/search` go per window, and any number of others. */
function searchLimit(clock: ManualClock, limit: number, windowMs: number) {
  let window = 0
  let used = 0
  return (path: string) => {
    if (!path.startsWith('/search')) return { status: 200, headers: budget('core', 4000, 3600) }
    const now = Math.floor(clock.now() / windowMs)
    if (now !== window) used = 0
    window = now
    used++
    const reset = ((window + 1) * windowMs - clock.now()) / 1000
    const headers = { ...budget('search', Math.max(0, limit - used), reset), 'x-ratelimit-limit': String(limit) }
    if (used <= limit) return { status: 200, headers }
    return { status: 429, headers: { ...headers, 'retry-after': String(reset) } }
  }
}

describe('the budget of a resource', () => {
  function crawl(policy: PacerOptions, paths: readonly string[], latencyMs = 50) {
    const { clock, pacer } = setUp(policy)
    const server = searchLimit(clock, 4, 4000)
    const starts: Record<string, number[]> = { '/search': [], '/repos': [] }
    const refused: string[] = []
    for (const path of paths) {
      void pacer.wait(`${api}${path}`, { reportsSent: true }).then((permit) => {
        permit.sent()
        starts[path]?.push(clock.now())
        const { status, headers } = server(path)
        if (status === 429) refused.push(`${path}@${clock.now()}`)
        clock.setTimer(() => permit.done({ status, headers, latencyMs }), latencyMs)
      })
    }
    return { clock, pacer, starts, refused }
  }

  async function pass(clock: ManualClock, ms: number) {
    for (let passed = 0; passed < ms; passed += 10) await clock.advanceAsync(10)
  }

  test('is spread until its reset, also over those who lined up before it was known', async () => {
    const { clock, starts, refused } = crawl({ rate: 10, capacity: 1 }, Array(12).fill('/search'))
    await pass(clock, 24_000)
    expect(refused).toEqual([])
    expect(starts['/search']).toHaveLength(12)
    // The first answer leaves three: one of them goes at once, the others are spread over what is left of the window.
    expect(starts['/search']?.slice(0, 4)).toEqual([0, 100, 2050, 4000])
  })

  test('does not slow another one, whose requests pass by', async () => {
    const paths = [...Array(12).fill('/search'), ...Array(5).fill('/repos')]
    const { clock, starts, refused } = crawl({ rate: 10, capacity: 1 }, paths)
    await pass(clock, 6000)
    expect(refused).toEqual([])
    expect(starts['/repos']).toHaveLength(5)
    await pass(clock, 20_000)
    expect(starts['/search']).toHaveLength(12)
  })

  test('is used no further by those who have their leave of it but wait for their host', async () => {
    const { clock, pacer, departures, ask } = setUp({ intervalMs: 1000 })
    await ask('/search/0', { ...budget('search', 3, 20), 'x-ratelimit-limit': '4' })
    const late = ask('/search/1', budget('search', 2, 20))
    pacer.observe(`${api}/search/elsewhere`, { status: 200, headers: budget('search', 0, 20) })
    const other = ask('/repos')
    await clock.advanceAsync(19_999)
    await other
    expect(departures).toEqual(['/search/0@0', '/repos@1000'])
    await clock.advanceAsync(1)
    await late
    expect(departures.at(-1)).toBe('/search/1@20000')
    expect(pacer.stats().total).toMatchObject({ departures: 3, inFlight: 0, queued: 0, refused: 0 })
  })

  test('is that which its answers tell, less those that have left since', async () => {
    const { ask, pacer } = setUp()
    const left = async () => (await pacer.explain(api)).learned?.published
    await ask('/search/1', budget('search', 9))
    await ask('/search/2', budget('search', 8))
    expect(await left()).toMatchObject([{ remaining: 8 }])
  })

  test.each([
    ['Retry-After alone', { 'x-ratelimit-remaining': '0', 'retry-after': '90' }, 90_000],
    ['a reset alone', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '60' }, 60_000],
    ['a longer Retry-After', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '60', 'retry-after': '90' }, 90_000],
    ['a longer reset', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '60', 'retry-after': '9' }, 60_000],
    ['neither', { 'x-ratelimit-remaining': '0' }, 60_000],
  ])('that is used up holds its own requests alone: 429 with %s', async (_name, headers, expected) => {
    const { ask, waitMs, pacer } = setUp()
    const paused: unknown[] = []
    pacer.on('pause', ({ key, waitMs }) => void paused.push([key, waitMs]))
    await ask('/search/1', { ...headers, 'x-ratelimit-resource': 'search' }, 429)
    expect(await waitMs('/search/2')).toBe(expected)
    expect(await waitMs('/repos')).toBe(0)
    expect(await pacer.explain(`${api}/search`)).toMatchObject({ waitMs: expected })
    expect(paused).toEqual([[`${api} search`, expected]])
  })

  test('tells what was waited for it', async () => {
    const { ask, pacer, clock } = setUp()
    await ask('/search/1', budget('search', 0))
    const told: unknown[] = []
    pacer.on('depart', ({ waitedMs, layer }) => void told.push([waitedMs, layer]))
    pacer.on('reject', ({ waitedMs }) => void told.push(waitedMs))
    const waiting = pacer.wait(`${api}/search/2`)
    await expect(pacer.wait(`${api}/search/3`, { maxWaitMs: 1000 })).rejects.toMatchObject({ maxWaitMs: 1000 })
    await clock.advanceAsync(60_000)
    ;(await waiting).done()
    expect(told).toEqual([0, [60_000, 'published']])
    expect(pacer.stats().total).toMatchObject({ refused: 1, waits: { published: { count: 1 } } })
  })
})

test('C08 on a server: its budget is not overdrawn, and what is not of it passes', async () => {
  const limit = 4
  const windowMs = 1000
  let [used, resetAtMs] = [0, 0]
  const seen: string[] = []
  const server = createServer(({ url = '' }, response) => {
    const isSearch = url.startsWith('/search')
    if (performance.now() >= resetAtMs) [used, resetAtMs] = [0, performance.now() + windowMs]
    if (isSearch) used++
    const isOver = isSearch && used > limit
    seen.push(isOver ? `${url} refused` : url)
    const resetSeconds = String((resetAtMs - performance.now()) / 1000)
    response.writeHead(isOver ? 429 : 200, {
      'x-ratelimit-resource': isSearch ? 'search' : 'core',
      'x-ratelimit-limit': String(isSearch ? limit : 5000),
      'x-ratelimit-remaining': String(isSearch ? Math.max(0, limit - used) : 4000),
      'x-ratelimit-reset': resetSeconds,
      ...(isOver && { 'retry-after': resetSeconds }),
    })
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const pacer = createPacer({ intervalMs: 150 })
  const get = (path: string) => pacer.run(`${origin}${path}`, () => fetch(`${origin}${path}`).then(drained))
  const searches = Array.from({ length: 7 }, (_, i) => get(`/search/${i}`))
  await Promise.all([get('/repos/0'), get('/repos/1'), ...searches])
  await pacer.close()
  server.close()
  expect(seen.filter((path) => path.endsWith('refused'))).toEqual([])
  expect(seen.indexOf('/repos/1')).toBeLessThan(seen.indexOf('/search/6'))
})

async function drained(response: Response): Promise<Response> {
  await response.arrayBuffer()
  return response
}
