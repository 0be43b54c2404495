import { createHash } from 'node:crypto'
import { createPacer } from '@hostpace/core'
import { createMonitor } from '@hostpace/monitor'
import { beforeAll, describe, expect, test } from 'vitest'

const monitor = createMonitor(createPacer())
let response: Response
let html: string

beforeAll(async () => {
  response = await monitor.fetch(new Request('https://ops.example/pace'))
  html = await response.text()
})

describe('the page', () => {
  test('its policy allows its own script and style by their hashes, its own updates, and nothing else', () => {
    const hash = (name: string) => {
      const text = new RegExp(`<${name}>(.*)</${name}>`, 's').exec(html)?.[1] as string
      return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
    }
    expect(response.headers.get('content-security-policy')?.split('; ')).toEqual([
      "default-src 'none'",
      `script-src ${hash('script')}`,
      `style-src ${hash('style')}`,
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ])
  })

  test('has one script, one style, no handlers or styles in its markup, and asks for nothing from elsewhere', () => {
    const markup = html.replace(/<(script|style)>.*?<\/\1>/gs, '<$1>')
    expect(markup.match(/<(script|style)/g)).toEqual(['<style', '<script'])
    expect(markup).not.toMatch(/\son\w+=|\sstyle=|javascript:|\ssrc=|\shref=|<link|<base|<iframe/i)
    expect(html).not.toMatch(/https?:|url\(|@import|\bimport\(|innerHTML|outerHTML|insertAdjacentHTML|document\.write/)
  })

  test('is not kept, not sniffed at, and tells nobody where it is', () => {
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    })
  })

  test('nobody elsewhere may read its updates', async () => {
    const { body, headers } = await monitor.fetch(new Request('https://ops.example/?events'))
    await body?.cancel()
    expect(headers.get('content-type')).toBe('text/event-stream')
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s is refused, for the page and for its updates', async (method) => {
    for (const url of ['https://ops.example/pace', 'https://ops.example/pace?events']) {
      const refused = await monitor.fetch(new Request(url, { method }))
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    }
  })

  test('HEAD gives the headers alone', async () => {
    const head = await monitor.fetch(new Request('https://ops.example/pace', { method: 'HEAD' }))
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect(head.headers.get('content-security-policy')).toBe(response.headers.get('content-security-policy'))
    const events = await monitor.fetch(new Request('https://ops.example/pace?events', { method: 'HEAD' }))
    expect([events.headers.get('content-type'), events.body]).toEqual(['text/event-stream', null])
  })

  test('after the end there is none, and nothing of it or of its updates is kept', async () => {
    const closed = createMonitor(createPacer())
    closed.close()
    async function answer(method: string, query: string): Promise<unknown[]> {
      const { status, headers, body } = await closed.fetch(new Request(`https://ops.example/pace${query}`, { method }))
      return [status, headers.get('cache-control'), body === null ? null : await new Response(body).text()]
    }
    expect(await answer('GET', '')).toEqual([503, 'no-store', 'This monitor has been closed\n'])
    expect(await answer('HEAD', '')).toEqual([503, 'no-store', null])
    expect(await answer('GET', '?events')).toEqual([204, 'no-store', null])
    expect(await answer('HEAD', '?events')).toEqual([204, 'no-store', null])
  })
})
