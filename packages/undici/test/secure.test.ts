import { createSecureServer } from 'node:http2'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { pace } from '@hostpace/undici'
import { Agent, fetch, request } from 'undici'
import { describe, expect, onTestFinished, test } from 'vitest'
import { certificate } from './certificate.ts'
import { setUp, still, until, waiting } from './support.ts'

async function serveSecurely(protocol: 'HTTP/1.1' | 'HTTP/2') {
  const versions: string[] = []
  const answer = (
    incoming: { httpVersion: string; url?: string | undefined },
    response: { end(text: string): unknown },
  ) => {
    versions.push(incoming.httpVersion)
    if (incoming.url !== '/hang') response.end('ok')
  }
  const server =
    protocol === 'HTTP/2' ? createSecureServer(certificate, answer) : createServer({ ...certificate }, answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const agent = new Agent({ allowH2: protocol === 'HTTP/2', connect: { rejectUnauthorized: false } })
  onTestFinished(async () => {
    await agent.destroy()
    server.close()
  })
  return { origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, versions, agent }
}

describe.each([
  ['HTTP/1.1', '1.1'],
  ['HTTP/2', '2.0'],
] as const)('over TLS, %s', (protocol, version) => {
  test('requests are paced, observed and whole', async () => {
    const { origin, versions, agent } = await serveSecurely(protocol)
    const { clock, pacer, departures } = setUp()
    const answers: unknown[] = []
    pacer.on('observe', ({ status }) => void answers.push(status))
    const dispatcher = agent.compose(pace(pacer))
    expect(await (await request(origin, { dispatcher })).body.text()).toBe('ok')
    const second = fetch(origin, { dispatcher })
    await waiting(pacer, 1)
    await clock.advanceAsync(999)
    await still()
    expect(versions).toEqual([version])
    await clock.advanceAsync(1)
    expect(await (await second).text()).toBe('ok')
    expect(versions).toEqual([version, version])
    expect(departures).toEqual([origin, origin])
    expect(answers).toEqual([200, 200])
    expect(pacer.stats().total.inFlight).toBe(0)
  })

  test('the interval counts from when the request is written', async () => {
    const { origin, agent } = await serveSecurely(protocol)
    const { clock, pacer } = setUp()
    await (await request(origin, { dispatcher: agent.compose(pace(pacer)) })).body.text()
    await clock.advanceAsync(400)
    expect((await pacer.peek(origin)).waitMs).toBe(600)
  })

  test('an abort in flight frees the permit', async () => {
    const { origin, versions, agent } = await serveSecurely(protocol)
    const { pacer } = setUp()
    const abort = new AbortController()
    const sent = request(`${origin}/hang`, { dispatcher: agent.compose(pace(pacer)), signal: abort.signal })
    await until(() => versions.length === 1)
    abort.abort()
    await expect(sent).rejects.toBe(abort.signal.reason)
    expect(pacer.stats().total.inFlight).toBe(0)
  })
})
