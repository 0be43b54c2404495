import { describe, expect, test } from 'vitest'
import { Setting, stores, url } from './support/pacer-setting.ts'

describe.each(stores)('sent and done, $name', ({ make }) => {
  test('the interval is measured from the moment the request is on the wire', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    await s.send('a', { keep: true, reportsSent: true })
    s.sendAll(['b'])
    await s.pass(400)
    s.permits.get('a')?.sent()
    s.permits.get('a')?.sent()
    await s.pass(999)
    expect(s.names).toEqual(['a'])
    await s.pass(1)
    expect(s.starts).toEqual(['a@0', 'b@1400'])
  })

  test('however long the connection takes, nobody follows too closely', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    await s.send('a', { keep: true, reportsSent: true })
    s.sendAll(['b'])
    await s.pass(30_000)
    expect(s.names).toEqual(['a'])
    s.permits.get('a')?.sent()
    await s.pass(1000)
    expect(s.starts).toEqual(['a@0', 'b@31000'])
  })

  test('a second sent, or one after done, changes nothing', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    await s.send('a', { keep: true, reportsSent: true })
    s.permits.get('a')?.sent()
    await s.pass(500)
    s.permits.get('a')?.sent()
    s.permits.get('a')?.done({ status: 200 })
    s.permits.get('a')?.sent()
    s.sendAll(['b'])
    await s.pass(1000)
    expect(s.starts).toEqual(['a@0', 'b@1000'])
  })

  test('one that never left gives its slot back to the next, at once', async () => {
    const s = new Setting(make(), { intervalMs: 1000, quotas: [{ limit: 2, windowMs: 100_000 }] })
    await s.send('a', { keep: true, reportsSent: true })
    s.sendAll(['b', 'c'])
    await s.pass(300)
    s.permits.get('a')?.done()
    await s.pass(5000)
    expect(s.starts).toEqual(['a@0', 'b@300', 'c@1300'])
  })

  test.each([{ error: new Error('reset') }, { status: 500 }])(
    'one that failed with %o before it was sent is charged',
    async (outcome) => {
      const s = new Setting(make(), { intervalMs: 1000 })
      await s.send('a', { keep: true, reportsSent: true })
      s.sendAll(['b'])
      await s.pass(300)
      s.permits.get('a')?.done(outcome)
      await s.pass(5000)
      expect(s.starts).toEqual(['a@0', 'b@1300'])
    },
  )

  test('without reportsSent the departure stands, and sent moves only the interval', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    await s.send('a', { keep: true })
    await s.pass(200)
    s.permits.get('a')?.sent()
    s.permits.get('a')?.done()
    s.sendAll(['b'])
    await s.pass(5000)
    expect(s.starts).toEqual(['a@0', 'b@1200'])
  })

  test('without reportsSent an empty done gives nothing back', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    await s.send('a', { keep: true })
    s.permits.get('a')?.done()
    s.sendAll(['b'])
    await s.pass(999)
    expect(s.names).toEqual(['a'])
  })

  test('observe learns before the body has ended and keeps the permit', async () => {
    const s = new Setting(make(), { rate: 1000, concurrency: 1 })
    await s.send('a', { keep: true })
    s.permits.get('a')?.observe({ status: 429, headers: { 'retry-after': '5' } })
    s.sendAll(['b'])
    await s.pass(6000)
    expect(s.names).toEqual(['a'])
    s.permits.get('a')?.done()
    s.permits.get('a')?.observe({ status: 429, headers: { 'retry-after': '50' } })
    await s.settle()
    expect(s.starts).toEqual(['a@0', 'b@6000'])
  })

  test('several that are about to be written count each', async () => {
    const s = new Setting(make(), { quotas: [{ limit: 3, windowMs: 1000 }] })
    for (const name of ['a', 'b', 'c']) await s.send(name, { keep: true, reportsSent: true })
    s.sendAll(['d'])
    await s.pass(1500)
    expect(s.names).toEqual(['a', 'b', 'c'])
    for (const name of ['a', 'b']) s.permits.get(name)?.sent()
    await s.pass(1000)
    // The third may leave at any moment still.
    expect(s.starts.slice(3)).toEqual(['d@2500'])
    s.sendAll(['e', 'f'])
    await s.pass(0)
    expect(s.starts.slice(4)).toEqual(['e@2500'])
    s.permits.get('c')?.sent()
    await s.pass(1000)
    expect(s.starts.slice(5)).toEqual(['f@3500'])
  })
})

describe.each(stores)('run, $name', ({ make }) => {
  test('gives the result, observes it and frees the permit', async () => {
    const s = new Setting(make(), { rate: 1000, concurrency: 1 })
    const seen: unknown[] = []
    s.pacer.on('observe', ({ status, limited }) => seen.push([status, limited]))
    const response = { statusCode: 429, headers: { 'retry-after': '7' }, body: 'x' }
    expect(await s.pacer.run(url, () => response)).toBe(response)
    expect(seen).toEqual([[429, true]])
    expect((await s.pacer.peek(url)).waitMs).toBe(7000)
    await s.pacer.run('https://b.example/', async () => new Response(null, { status: 204 }))
    expect(seen[1]).toEqual([204, false])
    await s.pacer.run('https://b.example/', async () => 'no response')
    await s.pacer.run('https://b.example/', () => null)
    expect(seen).toHaveLength(2)
    expect(s.pacer.stats().total.inFlight).toBe(0)
  })

  test('rethrows what the function throws and observes its response', async () => {
    const s = new Setting(make(), { rate: 1000, concurrency: 1 })
    const error = Object.assign(new Error('429'), {
      response: { status: 429, headers: new Headers({ 'Retry-After': '3' }) },
    })
    await expect(s.pacer.run(url, () => Promise.reject(error))).rejects.toBe(error)
    expect((await s.pacer.peek(url)).waitMs).toBe(3000)
    const plain = 'not an error'
    const thrown = s.pacer.run('https://b.example/', () => {
      throw plain
    })
    await expect(thrown).rejects.toBe(plain)
    expect(s.pacer.stats().total.inFlight).toBe(0)
  })

  test('does not call the function of a request that is refused', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    await s.send('a')
    let calls = 0
    const run = s.pacer.run(url, () => calls++, { maxWaitMs: 0 })
    await expect(run).rejects.toMatchObject({ code: 'ERR_HOSTPACE_WAIT_TOO_LONG' })
    expect(calls).toBe(0)
  })
})
