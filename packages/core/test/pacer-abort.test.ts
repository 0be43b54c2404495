import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { range, Setting, stores } from './support/pacer-setting.ts'

describe.each(stores)('abort, $name', ({ make }) => {
  test('rejects in the same turn with exactly the reason', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    await s.send('first')
    const giveUp = new AbortController()
    const reason = { not: 'an error' }
    void s.send('second', { signal: giveUp.signal })
    await s.settle()
    giveUp.abort(reason)
    // Nothing but the promise's own reaction stands between.
    await Promise.resolve()
    await Promise.resolve()
    expect(s.refusal('second')).toBe(reason)
    expect(s.clock.timers).toBe(0)
  })

  test('a signal that is aborted already takes nothing', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    await s.send('never', { signal: AbortSignal.abort('why') })
    expect(s.refusal('never')).toBe('why')
    expect(s.store.hosts.size).toBe(0)
    await s.send('first')
    expect(s.starts).toEqual(['first@0'])
  })

  test('no listener stays, however the wait ends', async () => {
    const s = new Setting(make(), { intervalMs: 1000, maxQueue: 2 })
    const { signal } = new AbortController()
    const giveUp = new AbortController()
    await s.send('free', { signal })
    void s.send('waits', { signal })
    void s.send('gives up', { signal: giveUp.signal })
    await s.settle()
    void s.send('queue full', { signal })
    await s.send('too long', { signal, maxWaitMs: 10 })
    await s.settle()
    giveUp.abort()
    await s.pass(1000)
    expect(s.names).toEqual(['free', 'waits'])
    expect(s.refusals.size).toBe(3)
    void s.send('closed', { signal })
    await s.settle()
    await s.pacer.close()
    await s.settle()
    expect(s.refusal('closed').code).toBe('ERR_HOSTPACE_CLOSED')
    expect(getEventListeners(signal, 'abort')).toEqual([])
    expect(getEventListeners(giveUp.signal, 'abort')).toEqual([])
  })

  test('one signal may serve very many waiters without a warning', async () => {
    const warnings: Error[] = []
    const listen = (warning: Error) => warnings.push(warning)
    process.on('warning', listen)
    const s = new Setting(make(), { intervalMs: 1000 })
    const giveUp = new AbortController()
    s.sendAll(range(200), { signal: giveUp.signal })
    await s.settle()
    giveUp.abort()
    await s.settle()
    process.off('warning', listen)
    expect(s.refusals.size).toBe(199)
    expect(warnings).toEqual([])
  })

  test('everybody behind moves up', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    const giveUp = new AbortController()
    await s.send('first')
    s.sendAll(['a', 'b'], { signal: giveUp.signal })
    s.sendAll(['c', 'd'])
    await s.pass(500)
    giveUp.abort()
    await s.pass(5000)
    expect(s.starts).toEqual(['first@0', 'c@1000', 'd@2000'])
  })

  test('a dear head that gives up lets a cheap one behind leave at once', async () => {
    const s = new Setting(make(), { rate: '10r/s', capacity: 5 })
    await s.send('four', { cost: 4 })
    const giveUp = new AbortController()
    s.sendAll(['five'], { cost: 5, signal: giveUp.signal })
    s.sendAll(['one'])
    await s.pass(50)
    expect(s.names).toEqual(['four'])
    giveUp.abort()
    await s.settle()
    expect(s.starts).toEqual(['four@0', 'one@50'])
  })

  test('an abort in the very turn in which the request came costs nothing', async () => {
    const s = new Setting(make(), { rate: '1r/s', capacity: 2, justification: 'a test' })
    const giveUp = new AbortController()
    void s.send('first')
    void s.send('second', { signal: giveUp.signal })
    giveUp.abort('early')
    await s.settle()
    // A store that answers at once has let it go by then.
    const left = s.names.includes('second')
    expect(left ? s.names : s.refusal('second')).toEqual(left ? ['first', 'second'] : 'early')
    s.sendAll(['third'])
    await s.pass(0)
    expect(s.names.includes('third')).toBe(!left)
  })
})
