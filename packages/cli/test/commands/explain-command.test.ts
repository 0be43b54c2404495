import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
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
  expect(out).toContain('declares nothing')
  expect(out).toContain('stay away for 7 s')
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
