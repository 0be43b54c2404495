import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pace } from '@hostpace/axios'
import axios from 'axios'
import { describe, expect, onTestFinished, test } from 'vitest'
import { RecordingPacer } from './support/recording-pacer.ts'
import { redirectTo, serve, sleep } from './support/server.ts'

function paced(adapter: string) {
  const pacer = new RecordingPacer()
  const client = axios.create({ adapter, proxy: false })
  pace(client, pacer.asPacer)
  return { pacer, client }
}

const large = randomBytes(3_000_000)

describe.each(['http', 'fetch'])('bodies by the %s adapter', (adapter) => {
  test('acceptance 21: an open file is not read while waiting and arrives whole', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hostpace-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'file'), large)
    const a = await serve()
    const { pacer, client } = paced(adapter)
    pacer.holds = () => true
    const file = createReadStream(join(folder, 'file'))
    const sending = client.post(a.origin, file)
    const wait = await pacer.nth(0)
    await sleep(50)
    expect(file.bytesRead).toBe(0)
    wait.grant()
    await sending
    expect(a.hits[0]?.body.equals(large)).toBe(true)
    expect(file.listenerCount('close')).toBeLessThan(5)
  })

  test('acceptance 21: an upload that fails while waiting rejects at once', async () => {
    const a = await serve()
    const { pacer, client } = paced(adapter)
    pacer.holds = () => true
    const upload = new PassThrough()
    const sending = client.post(a.origin, upload).catch((error) => error)
    await pacer.nth(0)
    const failure = new Error('disk')
    upload.destroy(failure)
    const error = await sending
    expect(axios.isAxiosError(error)).toBe(true)
    expect(error.message).toBe('disk')
    expect(error.cause).toBe(failure)
    expect(error.config.url).toBe(a.origin)
    expect(pacer.states).toEqual(['aborted'])
    expect(a.hits).toEqual([])
  })

  test('acceptance 21: an upload that is closed while waiting rejects as cancelled', async () => {
    const a = await serve()
    const { pacer, client } = paced(adapter)
    pacer.holds = () => true
    const upload = new PassThrough()
    const sending = client.post(a.origin, upload).catch((error) => error)
    await pacer.nth(0)
    upload.destroy()
    const error = await sending
    expect(axios.isCancel(error)).toBe(true)
    expect(error.message).toBe('Request stream has been aborted')
    expect(pacer.states).toEqual(['aborted'])
    expect(a.hits).toEqual([])
  })

  test('a form arrives whole, also through a 307', async () => {
    const b = await serve()
    const a = await serve(redirectTo(`${b.origin}/x`, 307))
    const { pacer, client } = paced(adapter)
    const form = new FormData()
    form.append('field', 'value')
    await client.post(`${a.origin}/r`, form)
    expect(String(b.hits[0]?.body)).toContain('name="field"')
    expect(String(b.hits[0]?.body)).toBe(String(a.hits[0]?.body))
    expect(b.hits[0]?.headers['content-type']).toBe(a.hits[0]?.headers['content-type'])
    expect(pacer.statuses).toEqual([307, 200])
  })

  test('acceptance 22: a streamed response is observed at its headers and over at its end', async () => {
    const a = await serve((_request, response) => response.end(large))
    const { pacer, client } = paced(adapter)
    const { data } = await client.get(a.origin, { responseType: 'stream' })
    expect(pacer.statuses).toEqual([200])
    expect(pacer.states).toEqual(['sent'])
    expect((await buffer(data)).equals(large)).toBe(true)
    await sleep(5)
    expect(pacer.states).toEqual(['over'])
  })

  test('a streamed response that is discarded frees the permit', async () => {
    const a = await serve((_request, response) => response.end(large))
    const { pacer, client } = paced(adapter)
    const { data } = await client.get(a.origin, { responseType: 'stream' })
    if (data instanceof Readable) data.destroy()
    else await data.cancel()
    await sleep(20)
    expect(pacer.states).toEqual(['over'])
  })

  test('a complete but unread streamed response that is discarded frees the permit', async () => {
    const a = await serve((_request, response) => response.end('tiny'))
    const { pacer, client } = paced(adapter)
    const { data } = await client.get(a.origin, { responseType: 'stream' })
    await sleep(30)
    expect(pacer.states).toEqual(['sent'])
    if (data instanceof Readable) data.destroy()
    else await data.cancel()
    await sleep(20)
    expect(pacer.states).toEqual(['over'])
  })

  test('an abort of a streamed response reaches the stream and frees the permit', async () => {
    const a = await serve((_request, response) => {
      response.write('half')
    })
    const { pacer, client } = paced(adapter)
    const controller = new AbortController()
    const { data } = await client.get(a.origin, { responseType: 'stream', signal: controller.signal, timeout: 5000 })
    const reading = buffer(data).catch((error) => error)
    controller.abort()
    expect(await reading).toBeInstanceOf(Error)
    await sleep(20)
    expect(pacer.states).toEqual(['over'])
  })

  test('a streamed error response frees the permit once it is read', async () => {
    const a = await serve((_request, response) => response.writeHead(503, { 'retry-after': '3' }).end('later'))
    const { pacer, client } = paced(adapter)
    const error = await client.get(a.origin, { responseType: 'stream' }).catch((error) => error)
    expect(pacer.statuses).toEqual([503])
    expect(pacer.states).toEqual(['sent'])
    expect(String(await buffer(error.response.data))).toBe('later')
    await sleep(5)
    expect(pacer.states).toEqual(['over'])
  })

  test('a streamed response without a body frees the permit unread', async () => {
    const a = await serve((_request, response) => response.writeHead(204).end())
    const { pacer, client } = paced(adapter)
    await client.get(a.origin, { responseType: 'stream' })
    expect(pacer.states).toEqual(['over'])
  })
})

test('acceptance 21: a streamed upload is replayed by a 307 of the http adapter', async () => {
  const b = await serve()
  const a = await serve(redirectTo(`${b.origin}/x`, 307))
  const { pacer, client } = paced('http')
  await client.post(`${a.origin}/r`, Readable.from([large]))
  expect(b.hits[0]?.body.equals(large)).toBe(true)
  expect(pacer.origins).toEqual([a.origin, b.origin])
})

test('a streamed upload that a 307 asks for again fails by the fetch adapter as without pacing', async () => {
  const b = await serve()
  const a = await serve(redirectTo(`${b.origin}/x`, 307))
  const { pacer, client } = paced('fetch')
  const bare = await axios.post(a.origin, Readable.from(['x']), { adapter: 'fetch' }).catch((error) => error)
  const error = await client.post(a.origin, Readable.from(['x'])).catch((error) => error)
  expect([error.code, error.message]).toEqual([bare.code, bare.message])
  expect(pacer.states).toEqual(['over'])
  expect(b.hits).toEqual([])
})
