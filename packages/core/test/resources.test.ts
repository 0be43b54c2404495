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
