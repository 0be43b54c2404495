/** What becomes of the answers that hosts give when they are asked for their robots.txt (RFC 9309, section 2.3). */
import { describe, expect, test, vi } from 'vitest'
import { dayMs, minuteMs, Setting, settle } from './setting.ts'

const slow = 'User-agent: *\nCrawl-delay: 10\nDisallow: /private'
const isAllowed = (s: Setting) => Promise.all(['/', '/private'].map((path) => s.allowed(`https://a.example${path}`)))

describe('the first request', () => {
  test('waits for the robots.txt, which is asked for through the pacer', async () => {
    const s = new Setting(slow)
    s.send('/1', '/2')
    await s.pass(30_000)
    expect(s.asked).toEqual(['https://a.example/robots.txt@0'])
    expect(s.starts).toEqual(['/1@10000', '/2@20000'])
    expect(s.pacer.stats().total.departures).toBe(3)
  })

  test('the request says who asks, and follows no redirect', async () => {
    const s = new Setting(404, { userAgent: 'mybot/1.0 (+https://my.example)' })
    await s.pacer.peek('https://a.example/')
    expect(s.inits).toEqual([
      {
        redirect: 'manual',
        headers: { 'user-agent': 'mybot/1.0 (+https://my.example)' },
        signal: expect.any(AbortSignal),
      },
    ])
  })

  test('E07: a longer interval of the configuration stays, a shorter one gives way', async () => {
    for (const [delay, gapMs] of [
      ['0.2', 3000],
      ['10', 10_000],
    ] as const) {
      const s = new Setting(`User-agent: *\nCrawl-delay: ${delay}`, { pacer: { intervalMs: 3000 } })
      s.send('/1', '/2')
      await s.pass(60_000)
      expect(s.starts).toEqual([`/1@${gapMs}`, `/2@${2 * gapMs}`])
    }
  })

  test('the longest delay that can be is one', async () => {
    const s = new Setting('User-agent: *\nCrawl-delay: 99999999999999999999')
    expect(await s.gapMs()).toBe(Number.MAX_SAFE_INTEGER)
    s.send('/1')
    await s.pass(1000 * dayMs)
    expect([s.starts, s.refusals.size]).toEqual([[], 0])
  })

  test('what a robots.txt is answered with is observed', async () => {
    const s = new Setting(503)
    const statuses: unknown[] = []
    s.pacer.on('observe', ({ status }) => void statuses.push(status))
    await s.pacer.peek('https://a.example/')
    expect(statuses).toEqual([503])
  })
})

describe('statuses', () => {
  test.each([400, 401, 403, 404, 410, 451, 304, 300])('%d: no rules, kept for a day', async (status) => {
    const s = new Setting(() => new Response(null, { status }))
    expect(await s.gapMs()).toBeUndefined()
    expect(await isAllowed(s)).toEqual([true, true])
    s.page = slow
    await s.pass(dayMs - 1000)
    s.send('/1')
    expect(await isAllowed(s)).toEqual([true, true])
    expect(s.asked.length).toBe(1)
    await s.pass(1000)
    expect(await isAllowed(s)).toEqual([true, false])
    expect(s.asked.length).toBe(2)
  })

  test.each([
    ['429', 429],
    ['500', 500],
    ['503', 503],
    ['a failure', new TypeError('fetch failed')],
    ['a body that breaks off', () => new Response(new ReadableStream({ pull: (c) => c.error(new Error('cut')) }))],
  ])('%s without a copy: all is disallowed, and it is tried again', async (_name, page) => {
    const s = new Setting(page)
    expect(await s.gapMs()).toBeUndefined()
    expect(await isAllowed(s)).toEqual([false, false])
    expect(await s.allowed('https://a.example/robots.txt')).toBe(true)
    s.page = slow
    await s.pass(minuteMs - 1)
    expect(await isAllowed(s)).toEqual([false, false])
    await s.pass(1)
    expect(await isAllowed(s)).toEqual([true, false])
    s.send('/1', '/2')
    await s.pass(minuteMs)
    expect(s.asked.length).toBe(2)
    expect(s.starts).toEqual(['/1@70000', '/2@80000'])
  })

  test('an answer of 2xx without a body says nothing', async () => {
    const s = new Setting(() => new Response(null, { status: 204 }))
    expect([await s.gapMs(), await isAllowed(s)]).toEqual([undefined, [true, true]])
  })

  test('it is tried again after a minute, and twice as long each time up to a day', async () => {
    const s = new Setting(500)
    await s.gapMs()
    for (let minute = 0; minute < 4 * 24 * 60; minute++) {
      await isAllowed(s)
      s.clock.advance(minuteMs)
    }
    const minutes = s.asked.map((asked) => Number(asked.split('@')[1]) / minuteMs)
    const gaps = minutes.slice(1).map((minute, index) => minute - (minutes[index] as number))
    expect(gaps).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1440, 1440])
  })

  test('E05: an error page is no file, and what the host said before stands', async () => {
    const s = new Setting('User-agent: *\nCrawl-delay: 10\nDisallow: /private')
    const html = '<!doctype html>\nUser-agent: *\nCrawl-delay: 0\nDisallow: /\n'
    const gapNow = async () => {
      s.send('/renews')
      await s.pass(1000)
      return s.gapMs()
    }
    expect(await gapNow()).toBe(10_000)
    await s.pass(dayMs)

    s.page = () => new Response(html, { status: 500 })
    expect([await gapNow(), await isAllowed(s)]).toEqual([10_000, [true, false]])
    expect([await gapNow(), s.asked.length]).toEqual([10_000, 2])

    await s.pass(minuteMs)
    s.page = 404
    expect([await gapNow(), await isAllowed(s), s.asked.length]).toEqual([undefined, [true, true], 3])

    await s.pass(dayMs)
    s.page = () => new Response(html)
    expect([await gapNow(), await isAllowed(s), s.asked.length]).toEqual([undefined, [true, true], 4])
    expect(s.refusals.size).toBe(0)
  })

  test('a copy is kept through many failures, and the count begins anew after a success', async () => {
    const s = new Setting(slow)
    await s.gapMs()
    await s.pass(dayMs)
    s.page = new Error('down')
    for (let minute = 0; minute < 7; minute++) {
      expect(await isAllowed(s)).toEqual([true, false])
      s.clock.advance(minuteMs)
    }
    s.page = 404
    expect([await isAllowed(s), s.asked.length]).toEqual([[true, true], 5])
    await s.pass(dayMs)
    s.page = 500
    expect([await isAllowed(s), s.asked.length]).toEqual([[true, true], 6])
    await s.pass(minuteMs)
    s.page = slow
    expect([await isAllowed(s), s.asked.length]).toEqual([[true, false], 7])
  })
})

describe('time', () => {
  test('a request that takes too long is given up, also where fetch does not mind its signal', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      for (const page of [
        () => new Promise<Response>(() => {}),
        () => new Response(new ReadableStream({ start: (c) => c.enqueue(new TextEncoder().encode(slow)) })),
      ]) {
        const s = new Setting(page, { timeoutMs: 5000 })
        s.send('/1')
        await settle()
        vi.advanceTimersByTime(4999)
        await settle()
        expect(s.starts).toEqual([])
        vi.advanceTimersByTime(1)
        await s.pass(1)
        expect(s.starts).toEqual(['/1@1'])
        expect(s.inits[0]?.signal?.reason).toMatchObject({ message: expect.stringContaining('within 5000 ms') })
        expect(await isAllowed(s)).toEqual([false, false])
      }
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  test('no timer is left of one that was answered', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      for (const page of [slow, 500, new Error('down')]) await new Setting(page).gapMs()
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  test('the wait for its turn does not count', async () => {
    const s = new Setting({ to: '/other.txt' }, { timeoutMs: 50, pacer: { intervalMs: 300_000 } })
    s.pages.set('https://a.example/other.txt', slow)
    s.send('/1')
    await settle()
    await new Promise((resolve) => setTimeout(resolve, 80))
    await s.pass(700_000)
    expect(s.asked).toEqual(['https://a.example/robots.txt@0', 'https://a.example/other.txt@300000'])
    expect(s.starts).toEqual(['/1@600000'])
    expect(await isAllowed(s)).toEqual([true, false])
  })
})

describe('redirects (section 2.3.1.2)', () => {
  const hop = (n: number) => `https://b.example/${n}`

  /** So many redirects, the last of which leads to the file. */
  function chain(count: number, page = slow): Setting {
    const s = new Setting(count === 0 ? page : { to: hop(1) })
    for (let n = 1; n <= count; n++) s.pages.set(hop(n), n === count ? page : { to: `/${n + 1}`, status: 307 })
    return s
  }

  test.each([0, 1, 4, 5])('%d are followed, and the rules are those of the first host', async (count) => {
    const s = chain(count)
    expect([await s.gapMs(), await isAllowed(s)]).toEqual([10_000, [true, false]])
    expect(s.asked.length).toBe(count + 1)
  })

  test('six are too many: no rules', async () => {
    const s = chain(6)
    expect([await s.gapMs(), await isAllowed(s), s.asked.length]).toEqual([undefined, [true, true], 6])
  })

  test('each waits for the host that it goes to', async () => {
    const s = chain(3)
    s.pacer.update(undefined, { intervalMs: 1000 })
    s.send('/1')
    await s.pass(30_000)
    expect(s.asked.map((asked) => asked.slice(8))).toEqual([
      'a.example/robots.txt@0',
      'b.example/1@0',
      'b.example/2@1000',
      'b.example/3@2000',
    ])
    expect(s.starts).toEqual(['/1@10000'])
    expect(await s.allowed('https://b.example/private')).toBe(true)
  })

  test.each(['data:,User-agent: *', 'ftp://b.example/robots.txt', 'https://user@b.example/', 'https://', undefined])(
    'to %j: no rules',
    async (to) => {
      const headers = to === undefined ? {} : { location: to }
      const s = new Setting(() => new Response(null, { status: 302, headers }))
      expect([await s.gapMs(), await isAllowed(s), s.asked.length]).toEqual([undefined, [true, true], 1])
    },
  )

  test('to what is down: all is disallowed', async () => {
    const s = new Setting({ to: hop(1) })
    s.pages.set(hop(1), 502)
    await s.gapMs()
    expect(await isAllowed(s)).toEqual([false, false])
  })

  test('where the runtime hides them, it follows them itself', async () => {
    let asked = 0
    const s = new Setting(() => (asked++ === 0 ? hidden() : new Response(slow)))
    expect(await s.gapMs()).toBe(10_000)
    expect(s.inits.map(({ redirect }) => redirect)).toEqual(['manual', 'follow'])
    expect(s.pacer.stats().total.departures).toBe(2)
  })

  function hidden(): Response {
    const response = Response.error()
    Object.defineProperty(response, 'type', { value: 'opaqueredirect' })
    return response
  }
})

test('a body that is no stream of the platform is read whole, and that of an error page not', async () => {
  const nodeFetch = (status: number) => {
    const response = new Response(slow, { status })
    return Object.defineProperty(response, 'body', { value: { pipe() {} } })
  }
  const s = new Setting(() => nodeFetch(200))
  expect(await s.gapMs()).toBe(10_000)
  const other = nodeFetch(404)
  const t = new Setting(() => other)
  expect([await t.gapMs(), other.bodyUsed]).toEqual([undefined, false])
})

test('a fetch that throws at once is a failure like any other', async () => {
  const fetch = () => {
    throw new TypeError('no network')
  }
  const s = new Setting(slow, { fetch })
  expect([await s.gapMs(), await isAllowed(s)]).toEqual([undefined, [false, false]])
})

test('no more of a body is read than counts', async () => {
  let chunks = 0
  let cancelled = false
  const endless = () =>
    new Response(
      new ReadableStream({
        pull(controller) {
          chunks++
          controller.enqueue(new TextEncoder().encode(`${chunks === 1 ? slow : ''}\n${' '.repeat(9999)}`))
        },
        cancel() {
          cancelled = true
        },
      }),
    )
  const s = new Setting(endless)
  expect(await s.gapMs()).toBe(10_000)
  expect(cancelled).toBe(true)
  expect(chunks).toBeLessThan(55)
})

test('the body of an error page is not read', async () => {
  let cancelled = false
  const cancel = () => {
    cancelled = true
  }
  const body = () => new ReadableStream({ cancel })
  const s = new Setting(() => new Response(body(), { status: 404 }))
  await s.gapMs()
  expect(cancelled).toBe(true)
})
