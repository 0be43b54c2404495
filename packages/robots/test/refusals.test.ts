/** What `enforce` and `onTooLong` refuse. */
import { createPacer } from '@hostpace/core'
import { CrawlDelayError, DisallowedError, robots } from '@hostpace/robots'
import { describe, expect, test } from 'vitest'
import { dayMs, minuteMs, Setting } from './setting.ts'

const slow = 'User-agent: *\nCrawl-delay: 10\nDisallow: /private'

describe('enforce', () => {
  test('refuses what is disallowed, which then takes nothing', async () => {
    const s = new Setting(slow, { enforce: true })
    s.send('/private/1', '/1', '/private/2', '/2', '/robots.txt')
    await s.pass(60_000)
    expect(s.starts).toEqual(['/robots.txt@10000', '/1@20000', '/2@30000'])
    expect(s.refusals.get('/private/1')).toBeInstanceOf(DisallowedError)
    expect(s.refusals.get('/private/2')).toMatchObject({
      name: 'DisallowedError',
      code: 'ERR_HOSTPACE_DISALLOWED',
      url: 'https://a.example/private/2',
      key: 'https://a.example',
      message: 'https://a.example/private/2 is disallowed by robots.txt',
    })
    expect(s.refusals.get('/private/2')).not.toHaveProperty('cause')
  })

  test('who will not wait so long does not wait for the file either', async () => {
    const s = new Setting(() => new Promise(() => {}), { enforce: true, pacer: { intervalMs: 1, maxWaitMs: 2000 } })
    s.send('/1')
    await s.pass(2000)
    expect(s.refusals.get('/1')).toMatchObject({ code: 'ERR_HOSTPACE_WAIT_TOO_LONG', maxWaitMs: 2000 })
  })

  test('without it all of them leave', async () => {
    const s = new Setting(slow)
    s.send('/private', '/1')
    await s.pass(60_000)
    expect(s.starts).toEqual(['/private@10000', '/1@20000'])
    expect(s.robots.check).toBeUndefined()
  })

  test('while a host cannot say what is allowed, nothing is, and it says why', async () => {
    const s = new Setting(500, { enforce: true })
    s.send('/1')
    await s.pass(0)
    expect(s.refusals.get('/1')).toMatchObject({
      code: 'ERR_HOSTPACE_DISALLOWED',
      message: expect.stringContaining('unreachable'),
      cause: { message: 'https://a.example/robots.txt was answered with status 500' },
    })
    s.page = slow
    await s.pass(minuteMs - 1)
    s.send('/2')
    await s.pass(1)
    s.send('/3', '/4')
    await s.pass(30_000)
    expect([...s.refusals.keys()]).toEqual(['/1', '/2'])
    expect(s.asked.length).toBe(2)
    expect(s.starts).toEqual(['/3@70000', '/4@80000'])
  })

  test('goes by a new file as soon as the old one is a day old', async () => {
    const s = new Setting(slow, { enforce: true })
    s.send('/1')
    await s.pass(dayMs)
    s.page = 'User-agent: *\nCrawl-delay: 1\nDisallow: /1'
    s.send('/1', '/private')
    await s.pass(60_000)
    expect([...s.refusals.keys()]).toEqual(['/1'])
    expect([s.asked.length, await s.gapMs()]).toEqual([2, 1000])
  })

  test('rules are those of the URL, whatever the key', async () => {
    const s = new Setting(slow, { enforce: true, pacer: { intervalMs: 1, keyBy: () => 'mine' } })
    s.send('/private', '/1')
    await s.pass(1000)
    expect(s.starts).toEqual(['/1@1'])
    expect(s.refusals.get('/private')).toMatchObject({ key: 'mine' })
    s.pacer.wait('http://unix:/run/app.sock:/private', { key: 'socket' }).then(() => s.starts.push('socket'))
    await s.pass(1000)
    expect(s.starts.at(-1)).toBe('socket')
  })
})

describe('onTooLong', () => {
  test.each([
    ['honour', 10_000],
    ['cap', 4000],
  ] as const)('%s', async (onTooLong, gapMs) => {
    const s = new Setting(slow, { maxCrawlDelayMs: 4000, onTooLong })
    s.send('/1', '/2')
    await s.pass(60_000)
    expect(s.starts).toEqual([`/1@${gapMs}`, `/2@${2 * gapMs}`])
  })

  test('cap leaves what is not too long', async () => {
    const s = new Setting(slow, { maxCrawlDelayMs: 10_000, onTooLong: 'cap' })
    expect(await s.gapMs()).toBe(10_000)
  })

  test('skip refuses all requests of the host, but not for what is allowed', async () => {
    const s = new Setting(slow, { maxCrawlDelayMs: 9999, onTooLong: 'skip' })
    s.pages.set('https://b.example/robots.txt', 'User-agent: *\nCrawl-delay: 9.999\nDisallow: /')
    s.send('/1', '/private', 'https://b.example/1', '/robots.txt')
    await s.pass(60_000)
    expect(s.starts).toEqual(['/1@9999', '/robots.txt@10000'])
    expect(s.refusals.get('/1')).toBeInstanceOf(CrawlDelayError)
    expect(s.refusals.get('/private')).toMatchObject({
      name: 'CrawlDelayError',
      code: 'ERR_HOSTPACE_CRAWL_DELAY',
      url: 'https://a.example/private',
      key: 'https://a.example',
      crawlDelayMs: 10_000,
      maxCrawlDelayMs: 9999,
      message: expect.stringMatching(/10000 ms.*9999/),
    })
    expect(await s.allowed('https://a.example/1')).toBe(true)
  })

  test('skip lets a host go that asks for nothing, and with enforce what is disallowed is refused as that', async () => {
    const s = new Setting(slow, { maxCrawlDelayMs: 1, onTooLong: 'skip', enforce: true })
    s.send('https://b.example/1', '/private', '/1')
    await s.pass(1000)
    expect(s.starts).toEqual(['/1@1'])
    expect([...s.refusals].map(([url, { code }]) => [url, code])).toEqual([
      ['/private', 'ERR_HOSTPACE_DISALLOWED'],
      ['/1', 'ERR_HOSTPACE_CRAWL_DELAY'],
    ])
  })
})

test('an answer without a status, as `Response.error()` is, says nothing: all is disallowed', async () => {
  const lookup = robots({ userAgent: 'mybot', enforce: true, fetch: async () => Response.error() })
  const pacer = createPacer({ intervalMs: 1, policyFor: lookup })
  await expect(pacer.wait('https://a.example/x')).rejects.toMatchObject({ code: 'ERR_HOSTPACE_DISALLOWED' })
  await pacer.close()
})
