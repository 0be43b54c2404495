import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { HTTPError, RequestError } from 'got'
import { describe, expect, test } from 'vitest'
import { later, pacedGot, serve } from './paced-got.ts'

describe('errors', () => {
  test('HTTP errors stay got’s and are observed', async () => {
    const site = await serve((_request, response) => response.writeHead(404).end('no'))
    const { pacer, client } = pacedGot({ rate: 10 })
    const answers: unknown[] = []
    pacer.on('observe', ({ status }) => answers.push(status))
    expect(await later(client(site.origin))).toBeInstanceOf(HTTPError)
    expect(answers).toEqual([404])
    expect(pacer.stats().total.inFlight).toBe(0)
  })

  test('ours are the cause of a RequestError with the same code, and are not retried', async () => {
    const site = await serve()
    const { client } = pacedGot({ intervalMs: 60_000, maxWaitMs: 1000 })
    await client(site.origin)
    const error = (await later(client(site.origin))) as RequestError
    expect(error).toBeInstanceOf(RequestError)
    expect([error.code, (error.cause as { code?: string }).code]).toEqual(Array(2).fill('ERR_HOSTPACE_WAIT_TOO_LONG'))
    expect(error.request?.retryCount).toBe(0)
    expect(site.paths).toHaveLength(1)
  })

  test('ours reach a stream and come through a cache', async () => {
    const site = await serve()
    const { client, inFlight } = pacedGot({ intervalMs: 60_000, maxWaitMs: 1000 })
    await client(site.origin)
    const cached = later(client(site.origin, { cache: new Map() }))
    const streamed = later(client.stream(site.origin).toArray())
    for (const error of await Promise.all([cached, streamed])) {
      expect(error).toBeInstanceOf(RequestError)
      expect(error).toMatchObject({ code: 'ERR_HOSTPACE_WAIT_TOO_LONG', cause: { code: 'ERR_HOSTPACE_WAIT_TOO_LONG' } })
    }
    await inFlight(0)
    expect(site.paths).toHaveLength(1)
  })

  test('a request function that fails has made an attempt', async () => {
    const { client, departures, outcomes, inFlight } = pacedGot({ intervalMs: 1000 }, { retry: { limit: 0 } })
    const failure = new Error('no way out')
    const request = async () => {
      throw failure
    }
    expect(await later(client('http://nowhere.example', { request }))).toHaveProperty('cause', failure)
    await inFlight(0)
    expect(departures('http://nowhere.example')).toBe(1)
    expect(outcomes).toEqual([failure])
  })

  test('a failure that nobody awaits still ends the process', () => {
    const program = `
      import { createPacer } from '@hostpace/core'
      import { pace } from '@hostpace/got'
      import got from 'got'
      void got.extend(pace(createPacer({ rate: 10 })))('http://127.0.0.1:9/', { retry: { limit: 0 } })`
    const cwd = fileURLToPath(new URL('..', import.meta.url))
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd,
      encoding: 'utf8',
    })
    expect(stderr).toContain('ECONNREFUSED')
    expect(status).toBe(1)
  })
})
