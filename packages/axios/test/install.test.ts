import { createRequire } from 'node:module'
import { pace } from '@hostpace/axios'
import axios, { type AxiosStatic } from 'axios'
import { describe, expect, test } from 'vitest'
import { RecordingPacer } from './support/recording-pacer.ts'
import { redirectTo, serve } from './support/server.ts'

describe('acceptance 16: installed twice', () => {
  test('the same pacer on one instance charges once', async () => {
    const a = await serve((request, response, nth) =>
      request.url === '/r' ? redirectTo('/ok')(request, response, nth) : response.end('ok'),
    )
    const pacer = new RecordingPacer()
    const client = axios.create()
    for (let times = 0; times < 3; times++) pace(client, pacer.asPacer)
    await client.get(`${a.origin}/r`)
    expect(pacer.statuses).toEqual([302, 200])
  })

  test('a config that is sent again charges once each time', async () => {
    const a = await serve()
    const pacer = new RecordingPacer()
    const client = axios.create()
    pace(client, pacer.asPacer)
    const { config } = await client.get(a.origin)
    await client.request(config)
    await client.request(config)
    expect(pacer.waits).toHaveLength(3)
  })

  test('an instance made by create is not paced until it is installed there', async () => {
    const a = await serve()
    const pacer = new RecordingPacer()
    const parent = axios.create()
    pace(parent, pacer.asPacer)
    const child = (parent as AxiosStatic).create()
    await child.get(a.origin)
    expect(pacer.waits).toHaveLength(0)
    pace(child, pacer.asPacer)
    await child.get(a.origin)
    expect(pacer.waits).toHaveLength(1)
  })

  test('acceptance 17: two pacers in any order, asked in one order', async () => {
    const a = await serve()
    const [p, q] = [new RecordingPacer(), new RecordingPacer()]
    const [one, two] = [axios.create(), axios.create()]
    pace(one, p.asPacer)
    pace(one, q.asPacer)
    pace(two, q.asPacer)
    pace(two, p.asPacer)
    p.holds = () => true
    q.holds = () => true
    const sending = [one.get(a.origin), two.get(a.origin)]
    await new Promise((resolve) => setTimeout(resolve, 10))
    const [first, second] = p.waits.length === 2 ? [p, q] : [q, p]
    expect(second.waits).toHaveLength(0)
    for (const wait of first.waits) wait.grant()
    for (const nth of [0, 1]) (await second.nth(nth)).grant()
    await Promise.all(sending)
    expect(p.statuses).toEqual([200, 200])
    expect(q.statuses).toEqual([200, 200])
  })

  test('the place at the first pacer is given back when the second refuses', async () => {
    const [p, q] = [new RecordingPacer(), new RecordingPacer()]
    const client = axios.create()
    pace(client, p.asPacer)
    pace(client, q.asPacer)
    for (const pacer of [p, q]) pacer.holds = () => true
    const sending = client.get('http://127.0.0.1:9/').catch((error) => error)
    await new Promise((resolve) => setTimeout(resolve, 5))
    const [first, second] = p.waits.length === 1 ? [p, q] : [q, p]
    first.waits[0]?.grant()
    ;(await second.nth(0)).refuse(new Error('full'))
    await sending
    expect(first.states).toEqual(['given back'])
  })
})

test('eject takes the pacer out again', async () => {
  const a = await serve()
  const pacer = new RecordingPacer()
  const client = axios.create()
  const eject = pace(client, pacer.asPacer)
  await client.get(a.origin)
  eject()
  await client.get(a.origin)
  expect(pacer.waits).toHaveLength(1)
})

test('the defaults of the instance are not touched', () => {
  const client = axios.create()
  const before = { ...client.defaults }
  pace(client, new RecordingPacer().asPacer)
  expect(client.defaults).toEqual(before)
})

test('interceptors that are synchronous stay so', async () => {
  const pacer = new RecordingPacer()
  const client = axios.create()
  pace(client, pacer.asPacer)
  pacer.holds = () => true
  const controller = new AbortController()
  const sending = client.get('http://127.0.0.1:9/', { signal: controller.signal }).catch(() => {})
  expect(pacer.waits).toHaveLength(1)
  controller.abort()
  await sending
})

test('an instance of the CommonJS build is paced and gets errors of axios', async () => {
  const cjs = createRequire(import.meta.url)('axios') as AxiosStatic
  expect(cjs).not.toBe(axios)
  const a = await serve((request, response, nth) =>
    request.url === '/r' ? redirectTo('/ok')(request, response, nth) : response.end('ok'),
  )
  const pacer = new RecordingPacer()
  const client = cjs.create()
  pace(client, pacer.asPacer)
  await client.get(`${a.origin}/r`)
  expect(pacer.statuses).toEqual([302, 200])
  pacer.holds = () => true
  const controller = new AbortController()
  const sending = client.get(a.origin, { signal: controller.signal }).catch((error) => error)
  await pacer.nth(2)
  controller.abort()
  const error = await sending
  expect(error).toBeInstanceOf(cjs.CanceledError)
  expect(cjs.isCancel(error)).toBe(true)
})

test.each([null, undefined, {}, { interceptors: {} }])('%o is no axios', (instance) => {
  expect(() => pace(instance as never)).toThrow(/^instance must be axios or what axios\.create\(\) gave$/)
})

test('an axios that is too old is refused at once', () => {
  const { getAdapter: _, ...old } = axios
  expect(() => pace({ ...old, getAdapter: undefined } as unknown as AxiosStatic)).toThrow(TypeError)
})
