import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPacer } from '@hostpace/core'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { runCli, runJson } from '../run-cli.ts'

let server: Server
afterEach(() => server?.close())

async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('robots.txt and headers become a policy, each part with where it came from', async () => {
  const asked: string[] = []
  const origin = await serve((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers['user-agent']}`)
    if (request.url !== '/robots.txt')
      response.setHeader('RateLimit-Policy', '"day";q=86400;w=86400, "hour";q=60;w=3600')
    response.end(
      'User-agent: *\nCrawl-delay: 9\n\nUser-agent: mybot\nCrawl-delay: 0.01\nRequest-rate: 1/0.02s\nDisallow: /no',
    )
  })
  const { code, report } = await runJson(['explain', `${origin}/x`, '--user-agent', 'mybot/1.0'])
  expect(code).toBe(0)
  expect(asked).toEqual(['GET /robots.txt mybot/1.0', 'HEAD /x mybot/1.0'])
  expect(report.policy).toEqual({
    intervalMs: 20,
    rate: '60r/h',
    quotas: [
      { limit: 86_400, windowMs: 86_400_000 },
      { limit: 60, windowMs: 3_600_000 },
    ],
  })
  const sources = Object.fromEntries(report.parts.map(({ field, source }: Record<string, string>) => [field, source]))
  expect(sources.intervalMs).toBe(`${origin}/robots.txt, line 6: Request-rate: 1/0.02s`)
  expect(sources.rate).toContain('derived from the quota')
  expect(sources.quotas).toContain('ratelimit-policy: "day";q=86400')
})

test('what may not be asked for is not', async () => {
  const asked: (string | undefined)[] = []
  const origin = await serve((request, response) => {
    asked.push(request.url)
    response.end('User-agent: *\nCrawl-delay: 3600\nDisallow: /no')
  })
  const { report } = await runJson(['explain', `${origin}/no`])
  expect(asked).toEqual(['/robots.txt'])
  expect(report).toMatchObject({ allowed: false, policy: { intervalMs: 3_600_000 } })
})

test('a host that declares nothing, and one that asks to stay away', async () => {
  const origin = await serve((request, response) => {
    response.statusCode = request.url === '/robots.txt' ? 404 : 429
    if (request.url !== '/robots.txt') response.setHeader('Retry-After', '7')
    response.end()
  })
  const { code, out } = await runCli(['explain', origin, '--method', 'GET'])
  expect(code).toBe(0)
  expect(out).toContain('answered 404')
  expect(out).toContain('stay away for 7 s')
  expect(out).toContain('declares no limit that lasts')
  expect(out).not.toContain('one request a second')
})

describe('no policy, and why', () => {
  test.each([
    [404, {}, 'the host declares nothing'],
    [404, { 'RateLimit-Limit': '10', 'RateLimit-Remaining': '5', 'RateLimit-Reset': '60' }, 'no limit that lasts'],
    [500, {}, 'what the host declares is not known: robots.txt answered 500'],
  ])('robots.txt answers %i, the URL %j', async (status, headers, note) => {
    const origin = await serve((request, response) => {
      if (request.url === '/robots.txt') response.writeHead(status).end()
      else response.writeHead(200, headers).end()
    })
    const { report } = await runJson(['explain', origin])
    expect(report.policy).toEqual({})
    expect(report.notes.at(-1)).toContain(note)
  })

  test('the URL may not be asked for', async () => {
    const origin = await serve((_, response) => response.end('User-agent: *\nDisallow: /'))
    const { report } = await runJson(['explain', `${origin}/no`])
    expect(report.notes).toEqual([expect.stringContaining('the URL was not asked for')])
  })
})

test('what a host wrote is printed in its line, and orders nothing', async () => {
  const origin = await serve((request, response) => {
    if (request.url !== '/robots.txt') response.setHeader('RateLimit-Policy', '"a\x9b31m";q=5;w=60')
    response.end('User-agent: *\nCrawl-delay: 0.01 # \x1b[31mred\x1b]0;title\x07')
  })
  const { out } = await runCli(['explain', origin])
  expect(out).toContain('Crawl-delay: 0.01 # \\u001b[31mred\\u001b]0;title\\u0007\n')
  expect(out).toContain('a\\u009b31m')
  expect(out).toMatch(/^[ -~\n]*$/)
})

test('a redirect is shown with where it leads', async () => {
  const origin = await serve((request, response) => {
    if (request.url === '/robots.txt') response.end('User-agent: *\nCrawl-delay: 0.01')
    else response.writeHead(302, { location: '/there' }).end()
  })
  const { out } = await runCli(['explain', origin])
  expect(out).toContain('the URL answered 302, location: /there;')
  expect((await runJson(['explain', origin])).report.answer).toEqual({ status: 302, location: '/there' })
})

test('a host that asks to wait long is told of, and not waited for', async () => {
  const asked: (string | undefined)[] = []
  const origin = await serve((request, response) => {
    asked.push(request.url)
    response.end('User-agent: *\nCrawl-delay: 1000000')
  })
  const { code, out, err } = await runCli(['explain', `${origin}/x`])
  expect({ code, err, asked }).toEqual({ code: 0, err: '', asked: ['/robots.txt'] })
  expect(out).toContain('the host asks to wait 1000000 s, more than 1 m')
  expect(out).toContain('{"intervalMs":1000000000}')
  const { report } = await runJson(['explain', `${origin}/x`])
  expect(report).toMatchObject({ allowed: true, policy: { intervalMs: 1_000_000_000 } })
  expect(report.answer).toBeUndefined()
})

test('the interval counts from the answer, since fetch does not tell when a request was sent', async () => {
  const said: string[] = []
  const origin = await serve((request, response) => {
    said.push(request.url as string)
    response.end('User-agent: *\nCrawl-delay: 0.01')
  })
  const pacer = createPacer()
  const permit = await pacer.wait(origin)
  permit.done()
  await pacer.close()
  vi.spyOn(Object.getPrototypeOf(permit), 'sent').mockImplementation(() => void said.push('sent'))
  await runCli(['explain', `${origin}/x`])
  vi.restoreAllMocks()
  expect(said.slice(said.indexOf('/x'))).toEqual(['/x', 'sent'])
})

test.each([
  ['example.com', 'a URL such as'],
  ['ftp://example.com/', 'a URL such as'],
  ['http://127.0.0.1:9/', 'robots.txt cannot be asked'],
])('%s is refused', async (url, message) => {
  const { code, err } = await runCli(['explain', url])
  expect(code).toBe(2)
  expect(err).toContain(message)
})

test('a name that groups could not name is refused', async () => {
  const { code, err } = await runCli(['explain', 'http://127.0.0.1:9/', '--user-agent', '*'])
  expect(code).toBe(2)
  expect(err).toContain('options.userAgent')
})
