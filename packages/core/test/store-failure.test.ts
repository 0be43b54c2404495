import { memoryStore, StoreError } from '@hostpace/core'
import { describe, expect, test } from 'vitest'
import { asyncStore } from './support/async-store.ts'
import { range, Setting, url } from './support/pacer-setting.ts'

const failure = new Error('the connection is gone')

describe.each([
  {
    name: 'throws',
    fail: (): never => {
      throw failure
    },
    make: memoryStore,
  },
  { name: 'rejects', fail: (): Promise<never> => Promise.reject(failure), make: () => asyncStore() },
])('a store that $name', ({ fail, make }) => {
  function setUp() {
    const store = make()
    const { leave, retry, view } = store
    const s = new Setting(store, { intervalMs: 1000 })
    const events: unknown[] = []
    s.pacer.on('store-error', (event) => events.push(event))
    const down = () => Object.assign(store, { leave: fail, retry: fail, view: fail })
    const up = () => Object.assign(store, { leave, retry, view })
    return { s, events, down, up }
  }

  test('rejects a request with StoreError and its cause, once told of per episode', async () => {
    const { s, events, down, up } = setUp()
    down()
    await s.send('a')
    await s.send('b')
    expect(s.refusal('a')).toBeInstanceOf(StoreError)
    expect(s.refusal('a')).toMatchObject({ code: 'ERR_HOSTPACE_STORE', cause: failure })
    expect(events).toEqual([{ key: 'https://a.example', error: s.refusal('a') }])
    up()
    await s.send('c')
    expect(s.names).toEqual(['c'])
    down()
    await s.send('d')
    expect(events).toHaveLength(2)
    expect(s.pacer.stats().total).toMatchObject({ refused: 3, queued: 0, inFlight: 0 })
  })

  test('leaves nobody hanging who waits, and recovers', async () => {
    const { s, down, up } = setUp()
    s.sendAll(range(3))
    s.sendAll(['impatient'], { maxWaitMs: 60_000 })
    await s.pass(500)
    down()
    await s.pass(500)
    expect([...s.refusals.keys()]).toEqual(['1', '2', 'impatient'])
    expect(s.clock.timers).toBe(0)
    up()
    await s.pass(5000)
    s.sendAll(['later'])
    await s.pass(5000)
    expect(s.names).toEqual(['0', 'later'])
  })

  test('is no unhandled rejection, and looking at it tells', async () => {
    const unhandled: unknown[] = []
    const listen = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', listen)
    const { s, down } = setUp()
    s.sendAll(['a', 'b'], { maxWaitMs: 60_000 })
    await s.settle()
    down()
    s.pacer.pause(url, 100)
    await s.pass(5000)
    await expect(s.pacer.peek(url)).rejects.toBe(failure)
    await expect(s.pacer.explain(url)).rejects.toBe(failure)
    await expect(s.pacer.reserve(url)).rejects.toBe(failure)
    await s.settle()
    process.off('unhandledRejection', listen)
    expect(unhandled).toEqual([])
    expect(s.refusal('b')).toBeInstanceOf(StoreError)
  })
})

test('a StoreError of the store itself is handed on as it is', async () => {
  const store = memoryStore()
  const own = new StoreError('read-only')
  const s = new Setting(store, { intervalMs: 1000 })
  store.leave = () => Promise.reject(own)
  await s.send('a')
  expect(s.refusal('a')).toBe(own)
})
