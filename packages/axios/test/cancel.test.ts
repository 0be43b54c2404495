import { getEventListeners } from 'node:events'
import { PassThrough } from 'node:stream'
import { pace } from '@hostpace/axios'
import axios from 'axios'
import { describe, expect, test } from 'vitest'
import { RecordingPacer } from './support/recording-pacer.ts'
import { redirectTo, serve, sleep } from './support/server.ts'

function paced(adapter: string) {
  const pacer = new RecordingPacer()
  const client = axios.create({ adapter, proxy: false })
  pace(client, pacer.asPacer)
  return { pacer, client }
}

describe.each(['http', 'fetch'])('cancelling by the %s adapter', (adapter) => {
  test('acceptance 8: an abort while the first hop waits', async () => {
    const a = await serve()
    const { pacer, client } = paced(adapter)
    pacer.holds = () => true
    const controller = new AbortController()
    const sending = client.get(`${a.origin}/x`, { signal: controller.signal }).catch((error) => error)
    await pacer.nth(0)
    controller.abort()
    const error = await sending
    expect(error).toBeInstanceOf(axios.CanceledError)
    expect(axios.isCancel(error)).toBe(true)
    expect(error.code).toBe('ERR_CANCELED')
    expect(error.config.url).toBe(`${a.origin}/x`)
    expect(pacer.states).toEqual(['aborted'])
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    await sleep(20)
    expect(a.hits).toEqual([])
  })

  test('acceptance 9: an abort while a redirect hop waits', async () => {
    const b = await serve()
    const a = await serve(redirectTo(`${b.origin}/x`))
    const { pacer, client } = paced(adapter)
    pacer.holds = (_url, nth) => nth === 1
    const controller = new AbortController()
    const sending = client.get(`${a.origin}/r`, { signal: controller.signal }).catch((error) => error)
    await pacer.nth(1)
    controller.abort()
    const error = await sending
    expect(error).toBeInstanceOf(axios.CanceledError)
    expect(error.config.url).toBe(`${a.origin}/r`)
    await sleep(20)
    expect(pacer.states).toEqual(['over', 'aborted'])
    expect(pacer.statuses).toEqual([302])
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    expect(a.hits).toHaveLength(1)
    expect(b.hits).toEqual([])
  })

  test.each([0, 1])('acceptance 12: the cancel token while hop %i waits', async (held) => {
    const b = await serve()
    const a = await serve(redirectTo(`${b.origin}/x`))
    const { pacer, client } = paced(adapter)
    pacer.holds = (_url, nth) => nth === held
    const { token, cancel } = axios.CancelToken.source()
    const sending = client.get(`${a.origin}/r`, { cancelToken: token }).catch((error) => error)
    await pacer.nth(held)
    cancel('changed my mind')
    const error = await sending
    expect(error).toBe(token.reason)
    expect(axios.isCancel(error)).toBe(true)
    expect(error.message).toBe('changed my mind')
    await sleep(20)
    expect(pacer.states.at(-1)).toBe('aborted')
    expect(a.hits).toHaveLength(held)
    expect(b.hits).toEqual([])
    expect((token as unknown as { _listeners?: unknown[] })._listeners ?? []).toEqual([])
  })

  test('a cancelled upload is destroyed unread', async () => {
    const { pacer, client } = paced(adapter)
    pacer.holds = () => true
    const upload = new PassThrough()
    const { token, cancel } = axios.CancelToken.source()
    const sending = client.post('http://127.0.0.1:9/', upload, { cancelToken: token }).catch((error) => error)
    await pacer.nth(0)
    cancel()
    expect(await sending).toBe(token.reason)
    expect(upload.destroyed).toBe(true)
  })

  test('acceptance 10: a time-out signal of the caller cancels while waiting', async () => {
    const a = await serve()
    const { pacer, client } = paced(adapter)
    pacer.holds = () => true
    const error = await client.get(a.origin, { signal: AbortSignal.timeout(20) }).catch((error) => error)
    expect(error).toBeInstanceOf(axios.CanceledError)
    expect(pacer.states).toEqual(['aborted'])
    expect(a.hits).toEqual([])
  })

  test('acceptance 11: an aborted signal takes no place', async () => {
    const { pacer, client } = paced(adapter)
    const error = await client.get('http://127.0.0.1:9/', { signal: AbortSignal.abort() }).catch((error) => error)
    expect(axios.isCancel(error)).toBe(true)
    expect(pacer.waits).toEqual([])
  })

  test('an abort between the permit and the sending gives the place back', async () => {
    const a = await serve()
    const { pacer, client } = paced(adapter)
    pacer.holds = () => true
    const controller = new AbortController()
    const sending = client.get(a.origin, { signal: controller.signal }).catch((error) => error)
    ;(await pacer.nth(0)).grant()
    controller.abort()
    expect(axios.isCancel(await sending)).toBe(true)
    await sleep(20)
    expect(pacer.states).toEqual(['given back'])
    expect(a.hits).toEqual([])
  })

  test('an abort after the sending frees the permit and is no outcome', async () => {
    const a = await serve(() => {})
    const { pacer, client } = paced(adapter)
    const controller = new AbortController()
    const sending = client.get(a.origin, { signal: controller.signal }).catch((error) => error)
    while (a.hits.length === 0) await sleep(5)
    controller.abort()
    expect(axios.isCancel(await sending)).toBe(true)
    expect(pacer.states).toEqual(['over'])
    expect(pacer.waits[0]?.observed).toEqual([])
  })

  test('acceptance 28: fifty calls on one signal leave no listener and give no warning', async () => {
    const a = await serve()
    const { client } = paced(adapter)
    const { signal } = new AbortController()
    const warnings: Error[] = []
    const onWarning = (warning: Error) => warnings.push(warning)
    process.on('warning', onWarning)
    for (let batch = 0; batch < 10; batch++) {
      await Promise.all(Array.from({ length: 5 }, () => client.get(a.origin, { signal, timeout: 5000 })))
    }
    await sleep(20)
    process.off('warning', onWarning)
    expect(warnings).toEqual([])
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})
