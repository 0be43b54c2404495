/** When a robots.txt is asked for, and through whom. */
import { createPacer } from '@hostpace/core'
import { robots } from '@hostpace/robots'
import { describe, expect, test } from 'vitest'
import { dayMs, minuteMs, Setting, settle } from './setting.ts'

const slow = 'User-agent: *\nCrawl-delay: 10\nDisallow: /private'

describe('once per origin', () => {
  test('E09: fifty at once make one request, also with a concurrency of 1 and none to be had', async () => {
    const s = new Setting(404, { pacer: { intervalMs: 1, concurrency: 1 } })
    s.pages.set('http://h.example:8081/robots.txt', 404)
    s.send(...Array.from({ length: 50 }, (_, n) => `http://h.example:8081/?${n}`))
    await s.pass(1000)
    expect(s.asked).toEqual(['http://h.example:8081/robots.txt@0'])
    expect(s.starts.length).toBe(50)
  })

  test('whoever asks: requests, peek and allowed', async () => {
    const s = new Setting(slow)
    s.send('/1')
    await Promise.all([
      s.pacer.peek('https://a.example/'),
      s.robots.allowed('https://a.example/1'),
      s.robots.allowed('https://a.example/2'),
    ])
    expect(s.asked.length).toBe(1)
  })

  test('what is no URL is refused by name', async () => {
    const s = new Setting(slow)
    for (const url of [null, undefined, 5, {}]) {
      await expect(s.robots.allowed(url as never)).rejects.toThrow(/^url must be a string or a URL, got /)
    }
    await expect(s.robots.allowed('nowhere')).rejects.toThrow("'nowhere' is not a URL")
  })

  test('origins are apart by scheme and port', async () => {
    const s = new Setting(404)
    const urls = ['https://a.example/', 'http://a.example/', 'https://a.example:8443/', 'https://A.example.:443/x']
    for (const url of urls) await s.pacer.peek(url)
    expect(s.asked.map((asked) => asked.replace(/@.*/, ''))).toEqual([
      'https://a.example/robots.txt',
      'http://a.example/robots.txt',
      'https://a.example:8443/robots.txt',
    ])
  })

  test('not again for a host that the pacer has forgotten', async () => {
    const s = new Setting(slow)
    await s.pacer.peek('https://a.example/')
    await s.pass(10 * minuteMs)
    s.pacer.sweep()
    expect(s.pacer.stats().hosts).toEqual({})
    expect([await s.gapMs(), s.asked.length]).toEqual([10_000, 1])
    // The rest of its day, and not a new one.
    s.page = 404
    await s.pass(dayMs - 10 * minuteMs)
    s.send('/1')
    await s.pass(1000)
    expect([await s.gapMs(), s.asked.length]).toEqual([undefined, 2])
  })

  test('not again for a pacer that forgets at once', async () => {
    const s = new Setting(slow)
    await s.gapMs()
    await s.pass(11_000)
    s.pacer.sweep()
    expect(s.pacer.stats().hosts).toEqual({})
    expect([await s.gapMs(), s.asked.length]).toEqual([10_000, 1])
  })

  test('of very many, those are forgotten that were used longest ago', async () => {
    const s = new Setting(404)
    const url = (n: number) => `https://h${n}.example/`
    await s.pacer.peek(url(0))
    for (let n = 1; n < 10_000; n++) await s.robots.allowed(url(n))
    await s.allowed(url(0))
    await s.allowed(url(10_000))
    expect(s.asked.length).toBe(10_001)
    await s.allowed(url(0))
    await s.allowed(url(2))
    expect(s.asked.length).toBe(10_001)
    await s.allowed(url(1))
    expect(s.asked.length).toBe(10_002)
  })
})

describe('clocks', () => {
  test('a day goes by the clock of the pacer', async () => {
    const s = new Setting(slow)
    expect(await s.gapMs()).toBe(10_000)
    s.page = 404
    await s.pass(dayMs)
    s.send('/1')
    await s.pass(1000)
    expect([await s.gapMs(), s.asked.length]).toEqual([undefined, 2])
  })

  test('nothing is asked for twice', async () => {
    const s = new Setting(slow)
    await s.pacer.peek('https://b.example/')
    await s.allowed('https://a.example/')
    expect([await s.gapMs(), s.asked.length]).toEqual([10_000, 2])
  })
})

describe('keys', () => {
  test('a unix socket has none', async () => {
    const s = new Setting(slow)
    for (const url of ['unix:/run/app.sock:/private', 'http://unix:/run/app.sock:/private']) {
      await s.pacer.peek(url)
      expect(await s.allowed(url)).toBe(true)
    }
    expect(s.asked).toEqual([])
  })

  test.each([
    'mine',
    'user:42',
    'https://a.example/path',
    'HTTPS://A.example',
    'a b.example',
    'x@a.example',
    'ftp://a.b',
  ])('one of somebody’s own has none: %s', async (key) => {
    const s = new Setting(slow, { pacer: { intervalMs: 1, keyBy: () => key } })
    await s.pacer.peek('https://a.example/')
    expect(s.asked).toEqual([])
    expect(await s.allowed('https://a.example/private')).toBe(false)
  })

  test.each([
    ['a.example', 'https://a.example'],
    ['a.example:8080', 'https://a.example:8080'],
    ['a.example:443', 'http://a.example:443'],
    ['localhost', 'https://localhost'],
    ['127.0.0.1:3000', 'https://127.0.0.1:3000'],
    ['[::1]:3000', 'https://[::1]:3000'],
  ])('a host %s has that of %s', async (key, origin) => {
    const s = new Setting(404, { pacer: { intervalMs: 1, keyBy: () => key } })
    s.pages.set(`${origin}/robots.txt`, slow)
    expect([await s.gapMs(), s.asked.length]).toEqual([10_000, 1])
  })

  test('a host that says nothing by https has that of http, and is tried by https again', async () => {
    const s = new Setting(new Error('no TLS'), { pacer: { intervalMs: 1, keyBy: 'host' } })
    s.pages.set('http://a.example/robots.txt', slow)
    expect(await s.gapMs('http://a.example/')).toBe(10_000)
    expect(s.asked.length).toBe(2)
    s.pages.set('http://a.example/robots.txt', 404)
    s.page = 'User-agent: *\nCrawl-delay: 3'
    await s.pass(dayMs)
    s.send('http://a.example/1')
    await s.pass(1000)
    expect([await s.gapMs('http://a.example/'), s.asked.length]).toEqual([3000, 3])
  })

  test('a host that says nothing at all is tried again', async () => {
    const s = new Setting(503, { pacer: { intervalMs: 1, keyBy: 'host' } })
    s.pages.set('http://a.example/robots.txt', 503)
    expect([await s.gapMs(), s.asked.length]).toEqual([undefined, 2])
    s.page = slow
    await s.pass(minuteMs)
    s.send('/1')
    await s.pass(1)
    expect([await s.gapMs(), s.asked.length]).toEqual([10_000, 3])
  })
})

describe('allowed', () => {
  test('needs a pacer to ask through', async () => {
    const policyFor = robots({ userAgent: 'mybot', fetch: async () => new Response(slow) })
    await expect(policyFor.allowed('https://a.example/')).rejects.toThrow('await pacer.peek(url)')
    expect(await policyFor.allowed('https://a.example/robots.txt')).toBe(true)
    const pacer = createPacer({ policyFor })
    await pacer.peek('https://a.example/')
    expect(await policyFor.allowed('https://a.example/private')).toBe(false)
    await pacer.close()
  })

  test('asks about a host that the pacer has not met, in its turn, and the pacer asks no more', async () => {
    const s = new Setting(slow, { pacer: { intervalMs: 1000 } })
    s.pages.set('https://b.example/robots.txt', 'User-agent: *\nDisallow: /x\nCrawl-delay: 7')
    await s.pacer.peek('https://a.example/')
    expect(await s.allowed(new URL('https://b.example/x'))).toBe(false)
    expect(await s.gapMs('https://b.example/')).toBe(7000)
    s.send('https://b.example/1')
    await s.pass(10_000)
    expect(s.asked.length).toBe(2)
    expect(s.starts).toEqual(['/1@7000'])
  })

  test('takes any URL with a host, and no other', async () => {
    const s = new Setting(slow)
    await s.pacer.peek('https://a.example/')
    for (const url of ['nothing', 'data:,x', '/private']) {
      await expect(s.allowed(url)).rejects.toThrow(TypeError)
    }
    expect(await s.allowed('ws://a.example/private')).toBe(true)
    expect(await s.allowed('https://a.example/private/robots.txt')).toBe(false)
    expect(await s.allowed('https://a.example/robots.txt?x')).toBe(true)
  })
})

describe('what the pacer refuses', () => {
  test('those who wait are refused with, and a later one is not', async () => {
    const s = new Setting({ to: '/other.txt' }, { pacer: { intervalMs: 5000, maxWaitMs: 1000 } })
    s.send('/1')
    await s.pass(0)
    expect(s.refusals.get('/1')).toMatchObject({ code: 'ERR_HOSTPACE_WAIT_TOO_LONG' })
    s.page = slow
    await s.pass(5000)
    expect(await s.gapMs()).toBe(10_000)
  })

  test('with a copy to go by, that holds, and it is tried again in a minute', async () => {
    const s = new Setting(slow, { pacer: { intervalMs: 1, maxWaitMs: 20_000 } })
    await s.pacer.peek('https://a.example/')
    await s.pass(dayMs)
    s.page = 404
    s.pacer.pause('https://a.example/', 50_000)
    expect(await s.allowed('https://a.example/private')).toBe(false)
    expect(s.asked.length).toBe(1)
    await s.pass(minuteMs)
    expect(await s.allowed('https://a.example/private')).toBe(true)
    expect(s.asked.length).toBe(2)
  })

  test('a pacer that is closed meanwhile ends it', async () => {
    const s = new Setting(() => new Promise(() => {}))
    s.send('/1')
    await settle()
    await s.pacer.close()
    await settle()
    expect(s.refusals.get('/1')).toMatchObject({ code: 'ERR_HOSTPACE_CLOSED' })
    await expect(s.robots.allowed('https://b.example/')).rejects.toMatchObject({ code: 'ERR_HOSTPACE_CLOSED' })
  })
})
