/** Real clients and real servers. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPacer, type Pacer, type PacerOptions } from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'
import { pace as paceFetch } from '@hostpace/fetch'
import { pace as paceGot } from '@hostpace/got'
import { DisallowedError, type RobotsOptions, robots } from '@hostpace/robots'
import { pace as paceUndici } from '@hostpace/undici'
import got from 'got'
import { getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { expect, onTestFinished, test, vi } from 'vitest'

interface Site {
  readonly origin: string
  readonly paths: (string | undefined)[]
  readonly agents: (string | undefined)[]
}

/** A server on loopback, which answers `ok` but for its robots.txt; without one it has none. */
async function serve(robotsTxt?: string, answer: RequestListener = (_request, response) => void response.end('ok')) {
  const site = { origin: '', paths: [] as (string | undefined)[], agents: [] as (string | undefined)[] }
  const server = createServer((request, response) => {
    site.paths.push(request.url)
    site.agents.push(request.headers['user-agent'])
    if (request.url !== '/robots.txt') answer(request, response)
    else response.writeHead(robotsTxt === undefined ? 404 : 200, { 'content-type': 'text/plain' }).end(robotsTxt)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  site.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return site satisfies Site
}

function pacerFor(options: Partial<RobotsOptions> = {}, pacer: PacerOptions = {}): Pacer {
  const made = createPacer({ policyFor: robots({ userAgent: 'mybot/1.0', ...options }), ...pacer })
  onTestFinished(() => made.close())
  return made
}

const fast: PacerOptions = { rate: 1000, capacity: 1000, justification: 'a test' }

test.each([{}, { concurrency: 1 }])('E09: fifty requests at once make one for robots.txt (%j)', async (more) => {
  const site = await serve()
  const fetched = paceFetch(fetch, pacerFor({}, { ...fast, ...more }))
  const texts = Array.from({ length: 50 }, async (_, n) => (await fetched(`${site.origin}/?${n}`)).text())
  expect(await Promise.all(texts)).toEqual(Array(50).fill('ok'))
  expect(site.paths[0]).toBe('/robots.txt')
  expect(site.agents[0]).toBe('mybot/1.0')
  expect(site.paths.filter((path) => path === '/robots.txt').length).toBe(1)
  expect(site.paths.length).toBe(51)
})

test('E10: each page of a pagination waits for the Crawl-delay', async () => {
  const clock = new ManualClock()
  const startsMs: number[] = []
  const site = await serve('User-agent: *\nCrawl-delay: 4\n', (_request, response) => {
    startsMs.push(clock.now())
    response.end(JSON.stringify([startsMs.length]))
  })
  const client = got.extend(paceGot(pacerFor({}, { clock })))
  const pages = client.paginate.all<number>(`${site.origin}/?page=1`, {
    responseType: 'json',
    pagination: {
      transform: (response) => response.body as number[],
      paginate: () => startsMs.length < 5 && { url: new URL(`${site.origin}/?page=${startsMs.length + 1}`) },
    },
  })
  await vi.waitFor(() => expect(site.paths).toEqual(['/robots.txt']), { interval: 1 })
  await arrivals()
  for (let page = 1; page <= 5; page++) {
    await clock.advanceAsync(3999)
    await arrivals()
    expect(startsMs.length).toBe(page - 1)
    await clock.advanceAsync(1)
    await vi.waitFor(() => expect(startsMs.length).toBe(page), { interval: 1 })
    await arrivals()
  }
  expect(await pages).toEqual([1, 2, 3, 4, 5])
  const firstMs = startsMs[0] as number
  expect(startsMs.map((ms) => ms - firstMs)).toEqual([0, 4000, 8000, 12_000, 16_000])
  expect(site.paths.filter((path) => path === '/robots.txt').length).toBe(1)
})

/** Gives what is on its way the time to arrive. */
async function arrivals(): Promise<void> {
  for (let turn = 0; turn < 15; turn++) await new Promise((resolve) => setTimeout(resolve, 2))
}

test('the built-in fetch over a global dispatcher that the same pacer paces asks once, and in its turn', async () => {
  const site = await serve('User-agent: *\nCrawl-delay: 0.05\nDisallow: /private\n')
  const before = getGlobalDispatcher()
  onTestFinished(() => setGlobalDispatcher(before))
  const pacer = pacerFor({ enforce: true }, { intervalMs: 1, concurrency: 1 })
  setGlobalDispatcher(before.compose(paceUndici(pacer)))
  expect(await (await fetch(`${site.origin}/1`)).text()).toBe('ok')
  const refused = await fetch(`${site.origin}/private`).catch((error) => error.cause ?? error)
  expect(refused).toBeInstanceOf(DisallowedError)
  expect(site.paths).toEqual(['/robots.txt', '/1'])
  expect(pacer.stats().total).toMatchObject({ departures: 2, inFlight: 0, queued: 0 })
})

test('a fetch option that the same pacer paces asks once', async () => {
  const site = await serve()
  let paced: typeof fetch = fetch
  const pacer = pacerFor({ fetch: (url, init) => paced(url, init) }, { intervalMs: 1, concurrency: 1 })
  paced = paceFetch(fetch, pacer)
  expect(await (await paced(`${site.origin}/1`)).text()).toBe('ok')
  expect(site.paths).toEqual(['/robots.txt', '/1'])
  expect(pacer.stats().total).toMatchObject({ departures: 2, inFlight: 0 })
})

test('what got is refused is its error’s cause, and not repeated', async () => {
  const site = await serve('User-agent: *\nDisallow: /private\n')
  const client = got.extend(paceGot(pacerFor({ enforce: true }, { intervalMs: 1 })))
  const error = await client(`${site.origin}/private`).catch((error) => error)
  expect(error.cause).toBeInstanceOf(DisallowedError)
  expect(site.paths).toEqual(['/robots.txt'])
})

test('a server that is down: all is disallowed, at once', async () => {
  const pacer = pacerFor({ enforce: true })
  const refused = await pacer.wait('http://127.0.0.1:9/').catch((error) => error)
  expect(refused).toMatchObject({ code: 'ERR_HOSTPACE_DISALLOWED', cause: { message: 'fetch failed' } })
})
