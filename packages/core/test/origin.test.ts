import { createPacer, originOf } from '@hostpace/core'
import { describe, expect, test } from 'vitest'
import { KeyFinder } from '../src/origin.ts'

const oneKey: [string, string[]][] = [
  [
    'https://example.com',
    [
      'https://EXAMPLE.com:443/a',
      'https://example.com/b',
      'https://u:p@example.com/',
      'https://example.com:0443/',
      'https://example.com./',
      'https://example.com',
      'https://example.com?x=1',
      'https://example.com#x',
      'HTTPS://example.com/',
      ' https://example.com/a',
      'https:example.com',
      'https:\\\\example.com\\a',
      'https://ex%61mple.com/',
    ],
  ],
  ['https://xn--bcher-kva.example', ['https://bücher.example/', 'https://xn--bcher-kva.example/']],
  ['http://[::1]:8080', ['http://[::1]:8080/', 'http://[0:0:0:0:0:0:0:1]:8080/']],
  ['http://example.com', ['http://example.com/', 'http://example.com:80/x']],
  ['https://example.com:8443', ['https://example.com:8443/', 'https://example.com.:8443/']],
  [
    'unix:/run/a.sock',
    ['unix:/run/a.sock:/x', 'unix:/run/a.sock', 'http://unix:/run/a.sock:/x', 'HTTP://unix:/run/a.sock:/y?z'],
  ],
  ['unix:/run/b.sock', ['unix:/run/b.sock:/x', 'http://unix:/run/b.sock:/x']],
  ['http://unix', ['http://unix/', 'http://unix/a']],
  ['ws://a.example', ['ws://a.example:80/']],
  ['http://127.0.0.1:3000', ['http://127.0.0.1:3000/', 'http://127.1:3000/', 'http://2130706433:3000']],
]

describe('B08: keys that differ without meaning are one, and different targets stay apart', () => {
  test.each(oneKey)('%s', (key, urls) => {
    const keys = new KeyFinder()
    for (const url of [...urls, ...urls]) {
      expect(keys.keyOf(url), url).toBe(key)
      expect(originOf(url), url).toBe(key)
    }
  })

  test('one finder keeps them all apart, whatever the order', () => {
    const keys = new KeyFinder()
    const all = oneKey.flatMap(([key, urls]) => urls.map((url) => [key, url] as const))
    for (const [key, url] of [...all, ...all.toReversed()]) expect(keys.keyOf(url), url).toBe(key)
  })

  test('URL objects, also of sockets', () => {
    const keys = new KeyFinder()
    expect(keys.keyOf(new URL('https://u:p@EXAMPLE.com.:443/x'))).toBe('https://example.com')
    expect(keys.keyOf(new URL('unix:/run/a.sock:/x'))).toBe('unix:/run/a.sock')
    expect(keys.keyOf(new URL('http://unix:/run/a.sock:/x'))).toBe('unix:/run/a.sock')
  })

  test.each([
    '',
    'example.com',
    '/path',
    'file:///etc/hosts',
    'data:text/plain,x',
    'blob:https://a.example/1',
    'about:blank',
  ])('%o is a TypeError', (url) => {
    expect(() => new KeyFinder().keyOf(url)).toThrow(TypeError)
    expect(() => originOf(url)).toThrow(TypeError)
    expect(() => originOf(url)).toThrow(`'${url}'`)
  })

  test('of a long text a message shows the beginning', () => {
    expect(() => originOf('x'.repeat(100_000))).toThrow(`'${'x'.repeat(200)}'... is not a URL`)
  })

  test.each([null, undefined, 5, {}, ['https://a.example']])('%o is a TypeError that says so', (url) => {
    expect(() => originOf(url as never)).toThrow(/^url must be a string or a URL, got /)
  })
})

describe('keyBy', () => {
  test("'host' puts schemes together and keeps ports apart", () => {
    const keys = new KeyFinder('host')
    expect(keys.keyOf('https://A.example./x')).toBe('a.example')
    expect(keys.keyOf('http://a.example/')).toBe('a.example')
    expect(keys.keyOf('http://a.example:8080/')).toBe('a.example:8080')
    expect(keys.keyOf('unix:/run/a.sock:/x')).toBe('unix:/run/a.sock')
    expect(keys.configuredKey('A.example', 'hosts')).toBe('a.example')
    expect(keys.configuredKey('http://A.example', 'hosts')).toBe('a.example')
    expect(() => keys.configuredKey('a b', 'hosts["a b"]')).toThrow('hosts["a b"] is not a host, such as \'a.example\'')
    expect(() => keys.configuredKey('a.example/x', 'hosts')).toThrow('hosts has a path')
    expect(keys.configuredKey('unix:/run/a.sock', 'hosts')).toBe('unix:/run/a.sock')
  })

  test.each([
    ['a.example', "is not an origin, such as 'https://a.example'"],
    ['https://a.example/x', 'has a path, but a policy is that of the whole host: https://a.example'],
    ['https://a.example?x', 'has a path'],
  ])('hosts cannot be named by %j', (host, message) => {
    expect(() => createPacer({ hosts: { [host]: { rate: 1 } } })).toThrow(`hosts["${host}"] ${message}`)
    expect(() => createPacer({ hosts: { 'https://a.example/': { rate: 1 } } })).not.toThrow()
  })

  test('a function gets the URL and what the caller says of the request', async () => {
    const seen: unknown[] = []
    const pacer = createPacer({
      keyBy: (url, request) => {
        seen.push(request)
        return url.hostname.split('.').slice(-2).join('.')
      },
      hosts: { 'a.example': { intervalMs: 5000 } },
    })
    const request = { method: 'GET' }
    const permit = await pacer.wait('https://www.a.example/', { request })
    expect(permit.key).toBe('a.example')
    expect((await pacer.peek(new URL('https://api.a.example/'))).waitMs).toBeGreaterThan(4000)
    expect(seen[0]).toBe(request)
    permit.done()
    await pacer.close()
  })

  test.each(['', undefined, null, 5])('a function that gives %o is a mistake that is named', async (key) => {
    const pacer = createPacer({ keyBy: () => key as string })
    await expect(pacer.wait('https://a.example/')).rejects.toMatchObject({ code: 'ERR_HOSTPACE_POLICY', path: 'keyBy' })
  })

  test('an error in a function rejects', async () => {
    const failure = new Error('mistake')
    const pacer = createPacer({
      keyBy: () => {
        throw failure
      },
    })
    await expect(pacer.wait('https://a.example/')).rejects.toBe(failure)
  })
})

test('what is remembered of URLs does not grow for ever', () => {
  const keys = new KeyFinder()
  for (let host = 0; host < 30_000; host++)
    expect(keys.keyOf(`https://h${host}.example/x`)).toBe(`https://h${host}.example`)
  expect(keys.keyOf('https://h1.example/y')).toBe('https://h1.example')
})
