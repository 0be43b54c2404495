import { createPacer } from '@hostpace/core'
import { pace } from '@hostpace/got'
import got from 'got'
import { describe, expect, onTestFinished, test } from 'vitest'
import { pacedGot, serve } from './paced-got.ts'

describe('what the user brings', () => {
  test('his own request function is called, and one that answers nothing leaves it to got', async () => {
    const site = await serve()
    let calls = 0
    const request = () => {
      calls++
      return undefined
    }
    for (const cache of [false, new Map()]) {
      const { client, departures } = pacedGot({ rate: 10 }, { request, cache } as never)
      expect(await client(site.origin).text()).toBe('ok')
      expect(departures(site.origin)).toBe(1)
    }
    expect(calls).toBe(2)
  })

  test('29: a hook that comes later and moves the request moves the charge', async () => {
    const [a, b] = [await serve(), await serve()]
    const { client, departures } = pacedGot({ rate: 10 })
    const moving = client.extend({
      hooks: {
        beforeRequest: [
          (options) => {
            options.url = new URL(b.origin)
          },
        ],
      },
    })
    await moving(a.origin)
    expect([departures(a.origin), departures(b.origin)]).toEqual([0, 1])
  })

  test('a key counts for the host it was given for, not for the one a redirect leads to', async () => {
    const b = await serve()
    const a = await serve((_request, response) => response.writeHead(302, { location: b.origin }).end())
    const { client, departures } = pacedGot({ rate: 10 })
    await client(a.origin, { context: { hostpace: { key: 'mine' } } })
    expect([departures('mine'), departures(a.origin), departures(b.origin)]).toEqual([1, 0, 1])
  })
})

describe('instances', () => {
  test('two pacers charge once each, per hop', async () => {
    const site = await serve((request, response) => {
      if (request.url === '/ok') response.end('ok')
      else response.writeHead(302, { location: '/ok' }).end()
    })
    const other = createPacer({ rate: 10 })
    const { client, departures } = pacedGot({ rate: 10 })
    const twice = client.extend(pace(other))
    await twice(`${site.origin}/r`)
    await twice(`${site.origin}/ok`)
    expect(departures(site.origin)).toBe(3)
    expect(other.stats().total.departures).toBe(3)
    await other.close()
  })

  test('the instance that was extended is left alone', async () => {
    const before = structuredClone(got.defaults.options.hooks.beforeRequest.length)
    const { client } = pacedGot({ rate: 10 })
    await client((await serve()).origin)
    expect(got.defaults.options.hooks.beforeRequest).toHaveLength(before)
    expect(client.defaults.options.hooks.beforeRequest).toHaveLength(before)
  })
})
