/**
 * What @hostpace/core, @hostpace/fetch and @hostpace/robots must do in every runtime. `act` is the program, as a user would write it: it
 * gets the packages and the addresses of two hosts, `a` and `b`, and throws if something is not as it should be. `verify`
 * looks afterwards at what the hosts wrote down of it, and of the scenario that it names in `alsoSees`. Nothing is imported, so this runs wherever it is loaded.
 */
export const scenarios = [
  {
    name: 'run() spaces what it calls',
    async act({ createPacer, a }) {
      const pacer = createPacer({ intervalMs: 200 })
      const visit = (path) => pacer.run(a(path), async () => (await fetch(a(path))).json())
      const answers = await Promise.all(['1', '2', '3'].map(visit))
      same(
        answers.map(({ path }) => path),
        ['1', '2', '3'],
      )
      same(pacer.stats().total.departures, 3)
      await pacer.close()
    },
    verify({ hits }) {
      same(pathsOf(hits), ['a 1', 'a 2', 'a 3'])
      spaced(hits, 200)
    },
  },
  {
    name: 'wait() goes by priority, each host for itself',
    async act({ createPacer, a, b }) {
      const pacer = createPacer({ intervalMs: 200 })
      const visit = async (url, options) => {
        const permit = await pacer.wait(url, options)
        const { status, headers } = await fetch(url)
        permit.observe({ status, headers })
        permit.done()
      }
      await Promise.all([
        visit(a('first')),
        visit(a('low')),
        visit(a('high'), { priority: 1 }),
        sleep(100).then(() => visit(b('other'))),
      ])
      same((await pacer.peek(a('next'))).layer, 'interval')
      await pacer.close()
    },
    verify({ hits }) {
      same(pathsOf(hits), ['a first', 'b other', 'a high', 'a low'])
      spaced(on('a', hits), 200)
    },
  },
  {
    name: 'pace() spaces what is asked at once',
    async act({ pace, a }) {
      const paced = pace(fetch, { intervalMs: 200 })
      const responses = await Promise.all(['1', '2', '3', '4'].map((path) => paced(a(path))))
      same(
        responses.map((response) => [response.status, response.url, response instanceof Response]),
        ['1', '2', '3', '4'].map((path) => [200, a(path), true]),
      )
      for (const response of responses) same((await response.json()).method, 'GET')
    },
    verify({ hits }) {
      same(pathsOf(hits), ['a 1', 'a 2', 'a 3', 'a 4'])
      spaced(hits, 200)
    },
  },
  {
    name: 'each hop of a redirect waits for its own host',
    async act({ createPacer, pace, a, b, isBrowser }) {
      const pacer = createPacer({ intervalMs: 200 })
      const paced = pace(fetch, pacer)
      const visit = async (n) => {
        const response = await paced(a(`start${n}`, { to: a(`middle${n}`, { to: b(`end${n}`) }) }))
        same([response.redirected, response.url, (await response.json()).path], [true, b(`end${n}`), `end${n}`])
      }
      await Promise.all([visit(1), visit(2)])
      // Browsers hide redirects from programs and follow them by themselves.
      same(pacer.stats().total.departures, isBrowser ? 2 : 6)
      await pacer.close()
    },
    verify({ hits, isBrowser }) {
      if (isBrowser) {
        same(pathsOf(hits), ['a start1', 'a middle1', 'b end1', 'a start2', 'a middle2', 'b end2'])
        spaced(
          hits.filter(({ path }) => path.startsWith('start')),
          200,
        )
        return
      }
      same(pathsOf(on('a', hits)), ['a start1', 'a start2', 'a middle1', 'a middle2'])
      same(pathsOf(on('b', hits)), ['b end1', 'b end2'])
      spaced(on('a', hits), 200)
      spaced(on('b', hits), 200)
    },
  },
  {
    name: "redirect: 'manual' and 'error' are left to fetch",
    async act({ pace, a, b, isBrowser }) {
      const paced = pace(fetch, fast)
      const { status, headers } = await paced(a('manual', { to: b('no') }), { redirect: 'manual' })
      same([status, headers.get('location')], isBrowser ? [0, null] : [302, b('no')])
      same(await failureOf(paced(a('error', { to: b('no') }), { redirect: 'error' })), 'TypeError')
    },
    verify({ hits }) {
      same(pathsOf(hits), ['a manual', 'a error'])
    },
  },
  {
    name: 'a Request with a body is sent, and sent again where a redirect asks for it',
    async act({ pace, a, b }) {
      const paced = pace(fetch, fast)
      const post = async (url, body) => {
        const headers = { 'content-type': 'text/plain' }
        const { method, body: got } = await (await paced(new Request(url, { method: 'POST', headers, body }))).json()
        return [method, got]
      }
      same(await post(a('plain'), 'text'), ['POST', 'text'])
      same(await post(a('temporary', { to: b('again'), status: 307 }), 'once more'), ['POST', 'once more'])
      same(await post(a('other', { to: b('get'), status: 303 }), 'only once'), ['GET', ''])
    },
    verify({ hits }) {
      same(
        hits.map(({ host, method, path, body }) => [host, method, path, body].join(' ').trim()),
        [
          'a POST plain text',
          'a POST temporary once more',
          'b POST again once more',
          'a POST other only once',
          'b GET get',
        ],
      )
    },
  },
  {
    name: 'a stream is not read while it waits, nor sent twice',
    isForBrowsers: false, // They upload streams over HTTP/2 only.
    async act({ pace, a, b }) {
      const paced = pace(fetch, { intervalMs: 200 })
      let isRead = false
      const streamOf = (text) =>
        new ReadableStream(
          {
            pull(controller) {
              isRead = true
              controller.enqueue(new TextEncoder().encode(text))
              controller.close()
            },
          },
          { highWaterMark: 0 },
        )
      const first = paced(a('first'))
      const upload = paced(a('upload'), { method: 'POST', body: streamOf('streamed'), duplex: 'half' })
      await first
      await sleep(50)
      same(isRead, false)
      same((await (await upload).json()).body, 'streamed')
      const options = { method: 'POST', body: streamOf('moved'), duplex: 'half' }
      same(await failureOf(paced(a('moved', { to: b('no'), status: 307 }), options)), 'TypeError')
    },
    verify({ hits }) {
      same(pathsOf(hits), ['a first', 'a upload', 'a moved'])
      spaced(hits, 200)
    },
  },
  {
    name: 'an abort ends the wait, sends nothing, and those behind move up',
    async act({ createPacer, pace, a }) {
      const pacer = createPacer({ intervalMs: 200 })
      const paced = pace(fetch, pacer)
      const [inInit, inRequest] = [new AbortController(), new AbortController()]
      const reasons = [new Error('enough'), new Error('enough too')]
      const first = paced(a('first'))
      const second = paced(a('no'), { signal: inInit.signal }).catch((error) => error)
      const third = paced(new Request(a('no'), { signal: inRequest.signal })).catch((error) => error)
      const fourth = paced(a('last'))
      await first
      inInit.abort(reasons[0])
      inRequest.abort(reasons[1])
      same((await second) === reasons[0], true)
      same((await third) === reasons[1], true)
      same(pacer.stats().total.queued, 1)
      await fourth
      same(await failureOf(paced(a('no'), { signal: AbortSignal.abort() })), 'AbortError')
      await pacer.close()
    },
    verify({ hits }) {
      same(pathsOf(hits), ['a first', 'a last'])
      spaced(hits, 200)
      // Behind the two that are gone it would have been 600.
      atMost(gapsOf(hits)[0], 500)
    },
  },
  {
    name: 'a permit is free when the body is over, however it is read',
    async act({ createPacer, pace, a }) {
      const pacer = createPacer({ ...fast, concurrency: 1 })
      const paced = pace(fetch, pacer)
      const read = {
        text: (response) => response.text(),
        json: (response) => response.json(),
        arrayBuffer: (response) => response.arrayBuffer(),
        blob: (response) => response.blob(),
        stream: ({ body }) => textOf(body),
        piped: ({ body }) => textOf(body.pipeThrough(new TransformStream())),
        wrapped: ({ body }) => new Response(body).text(),
        clone: (response) => Promise.all([response.clone().text(), response.text()]),
        cancelled: ({ body }) => body.cancel(),
      }
      // All at once: each can leave only when the one before it is over.
      await Promise.all(
        Object.entries(read).map(async ([name, over]) => {
          const response = await paced(a(name))
          same(pacer.stats().total.inFlight, 1)
          await over(response)
        }),
      )
      same(pacer.stats().total.inFlight, 0)
      await pacer.close()
    },
    verify({ hits }) {
      const paths = ['text', 'json', 'arrayBuffer', 'blob', 'stream', 'piped', 'wrapped', 'clone', 'cancelled']
      same(
        pathsOf(hits),
        paths.map((path) => `a ${path}`),
      )
      same(Math.max(...hits.map(({ inFlight }) => inFlight)), 1)
    },
  },
  {
    name: 'a body that is streamed comes as it is sent, and holds its permit until then',
    async act({ createPacer, pace, a }) {
      const pacer = createPacer(fast)
      const { body } = await pace(fetch, pacer)(a('drip', { chunks: 3 }))
      const reader = body.getReader()
      const times = []
      let text = ''
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        text += new TextDecoder().decode(next.value)
        times.push(performance.now())
        same(pacer.stats().total.inFlight, 1)
      }
      same(text, 'chunk 0\nchunk 1\nchunk 2\n')
      atLeast(times.at(-1) - times[0], 90)
      same(pacer.stats().total.inFlight, 0)

      const controller = new AbortController()
      const broken = await pace(fetch, pacer)(a('broken off', { chunks: 100 }), { signal: controller.signal })
      const whole = broken.text()
      controller.abort()
      same(await failureOf(whole), 'AbortError')
      same(pacer.stats().total.inFlight, 0)
      await pacer.close()
    },
    verify({ hits }) {
      same(pathsOf(hits), ['a drip', 'a broken off'])
    },
  },
  {
    name: 'Retry-After holds the host, and no other',
    async act({ createPacer, pace, a, b }) {
      const pacer = createPacer(fast)
      const paced = pace(fetch, pacer)
      same((await paced(a('refused', { status: 429, retryAfter: 1 }))).status, 429)
      await Promise.all([paced(a('later')), paced(b('now'))])
      await pacer.close()
    },
    verify({ hits }) {
      same(pathsOf(hits), ['a refused', 'b now', 'a later'])
      spaced(on('a', hits), 1000)
    },
  },
  {
    name: 'close() rejects those who wait, and nothing is sent',
    async act({ createPacer, pace, HostpaceError, a }) {
      const pacer = createPacer({ intervalMs: 60_000 })
      const paced = pace(fetch, pacer)
      await paced(a('first'))
      const waiting = [paced(a('no')), pacer.wait(a('no'))].map((promise) => promise.catch((error) => error))
      while (pacer.stats().total.queued < 2) await sleep(1)
      await pacer.close()
      for (const error of await Promise.all(waiting)) {
        same([error instanceof HostpaceError, error.code], [true, 'ERR_HOSTPACE_CLOSED'])
      }
      same(await failureOf(paced(a('no'))), 'PacerClosedError')
    },
    verify({ hits }) {
      same(pathsOf(hits), ['a first'])
    },
  },
  {
    name: 'what is refused says why, and takes nothing',
    async act({ createPacer, pace, a }) {
      const pacer = createPacer({ intervalMs: 60_000, maxQueue: 1 })
      const paced = pace(fetch, pacer)
      await paced(a('first'))
      const tooLong = paced(a('no'), { hostpace: { maxWaitMs: 5 } })
      same(await failureOf(tooLong), 'WaitTooLongError')
      const waiting = failureOf(pacer.wait(a('no')))
      same(await failureOf(pacer.wait(a('no'))), 'QueueFullError')
      same(await failureOf(paced(a('no'), { hostpace: { cost: -1 } })), 'PolicyError')
      same(await failureOf(new Promise(() => createPacer({ rate: true }))), 'PolicyError')
      await pacer.close()
      same(await waiting, 'PacerClosedError')
    },
    verify({ hits }) {
      same(pathsOf(hits), ['a first'])
    },
  },
  {
    name: 'an error of fetch comes as it is and frees the permit',
    async act({ createPacer, pace }) {
      const pacer = createPacer({ ...fast, concurrency: 1 })
      for (let times = 0; times < 2; times++) {
        const [plain, paced] = await Promise.all([fetch, pace(fetch, pacer)].map((ask) => failureOf(ask(nobody))))
        same(paced, plain)
      }
      same(pacer.stats().total.inFlight, 0)
      await pacer.close()
    },
    verify({ hits }) {
      same(hits, [])
    },
  },
  {
    name: 'what goes nowhere is free',
    async act({ createPacer, pace, a, isBrowser }) {
      const pacer = createPacer({ intervalMs: 200 })
      const paced = pace(fetch, pacer)
      same(await (await paced('data:,free')).text(), 'free')
      same(await (await paced(URL.createObjectURL(new Blob(['blob'])))).text(), 'blob')
      same(pacer.stats().total.departures, 0)
      // A page has an address, by which a relative URL is one that goes somewhere.
      const { pathname } = new URL(a('relative'))
      if (isBrowser) same((await (await paced(pathname)).json()).path, 'relative')
      else same(await failureOf(paced(pathname)), await failureOf(fetch(pathname)))
      same(pacer.stats().total.departures, isBrowser ? 1 : 0)
      await pacer.close()
    },
    verify({ hits, isBrowser }) {
      same(pathsOf(hits), isBrowser ? ['a relative'] : [])
    },
  },
  {
    name: 'robots() keeps a host to its robots.txt',
    alsoSees: 'robots.txt',
    async act({ createPacer, pace, robots, a }) {
      const policyFor = robots({ userAgent: 'mybot/1.0', enforce: true })
      const pacer = createPacer({ intervalMs: 50, policyFor })
      const paced = pace(fetch, pacer)
      const answers = await Promise.all(['1', '2'].map(async (path) => (await paced(a(path))).json()))
      same(
        answers.map(({ path }) => path),
        ['1', '2'],
      )
      same((await pacer.explain(a('1'))).policy.intervalMs, 200)
      same([await policyFor.allowed(a('1')), await policyFor.allowed(a('private'))], [true, false])
      same(await failureOf(paced(a('private'))), 'DisallowedError')
      await pacer.close()
    },
    verify({ hits }) {
      same(pathsOf(hits), ['a robots.txt', 'a 1', 'a 2'])
      spaced(hits, 200)
    },
  },
  {
    name: 'paced inside and outside of a layer, a request is charged once',
    async act({ createPacer, pace, a, isBrowser }) {
      const pacer = createPacer({ intervalMs: 200 })
      const inner = pace(fetch, pacer)
      same(pace(inner, pacer) === inner, true)
      const outer = pace((input, init) => inner(input, init), pacer)
      await outer(a('1'))
      await outer(a('2'))
      // Browsers have no AsyncLocalStorage.
      same(pacer.stats().total.departures, isBrowser ? 4 : 2)
      await pacer.close()
    },
    verify({ hits }) {
      same(pathsOf(hits), ['a 1', 'a 2'])
      spaced(hits, 200)
    },
  },
  {
    name: 'a ManualClock makes hours pass at once',
    isForBrowsers: false, // @hostpace/core/testing also has the suites, which start servers.
    async act({ createPacer, ManualClock, a }) {
      const clock = new ManualClock()
      const pacer = createPacer({ intervalMs: 3_600_000, clock })
      const times = []
      const all = Array.from({ length: 4 }, async () => {
        await pacer.run(a('no'), () => times.push(clock.now()))
      })
      await clock.advanceAsync(10_000_000)
      same(times, [0, 3_600_000, 7_200_000])
      await clock.advanceAsync(800_000)
      await Promise.all(all)
      same([times.at(-1), clock.timers], [10_800_000, 0])
      await pacer.close()
    },
    verify({ hits }) {
      same(hits, [])
    },
  },
]

/** Marks what may be the fault of a machine that is busy. */
export const timing = 'timing: '

/** A pacer that lets everything go at once. */
const fast = { rate: 1000, capacity: 1000, justification: 'a test' }

/** A port where no browser goes and nobody listens. */
const nobody = 'http://127.0.0.1:1/'

/** How much later than the second the first of two requests may have been on its way. */
const graceMs = 5

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

async function textOf(stream) {
  const decoder = new TextDecoder()
  const reader = stream.getReader()
  let text = ''
  for (let next = await reader.read(); !next.done; next = await reader.read()) text += decoder.decode(next.value)
  return text
}

/** The name of what a promise rejects with; throws if it does not. */
function failureOf(promise) {
  return promise.then(
    () => {
      throw new Error('It should have failed')
    },
    (error) => error.name,
  )
}

function on(host, hits) {
  return hits.filter((hit) => hit.host === host)
}

function pathsOf(hits) {
  return hits.map(({ host, path }) => `${host} ${path}`)
}

function gapsOf(hits) {
  return hits.slice(1).map(({ atMs }, index) => atMs - hits[index].atMs)
}

function spaced(hits, intervalMs) {
  for (const gapMs of gapsOf(hits)) atLeast(gapMs, intervalMs - graceMs)
}

function atLeast(actualMs, leastMs) {
  if (!(actualMs >= leastMs)) throw new Error(`${timing}${actualMs} ms where it should be ${leastMs} or more`)
}

function atMost(actualMs, mostMs) {
  if (!(actualMs <= mostMs)) throw new Error(`${timing}${actualMs} ms where it should be ${mostMs} or less`)
}

function same(actual, expected) {
  const [found, wanted] = [actual, expected].map((value) => JSON.stringify(value))
  if (found !== wanted) throw new Error(`${found} instead of ${wanted}`)
}
