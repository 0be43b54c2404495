import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, test } from 'vitest'
import { Setting, stores } from './support/pacer-setting.ts'

const context = new AsyncLocalStorage<string>()

/** Sends a request in a context that goes by its name, and waits until it is lined up. */
async function send(s: Setting, name: string, options?: Parameters<Setting['send']>[1]): Promise<void> {
  context.run(name, () => void s.send(name, options))
  await s.settle()
}

/** In which context each `depart` and `reject` is told. */
function contexts(s: Setting): string[] {
  const heard: string[] = []
  s.pacer.on('depart', () => heard.push(`${context.getStore()} departs`))
  s.pacer.on('reject', () => heard.push(`${context.getStore()} is refused`))
  return heard
}

describe.each(stores)('the async context of events, $name', ({ make }) => {
  test('depart is told in that of each request, though one timer wakes them all', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    const heard = contexts(s)
    for (const name of ['a', 'b', 'c']) await send(s, name)
    await context.run('who moves the clock', () => s.pass(2000))
    expect(heard).toEqual(['a departs', 'b departs', 'c departs'])
  })

  test('depart of one is not told in that of another, whose end lets it go', async () => {
    const s = new Setting(make(), { rate: 1000, concurrency: 1 })
    const heard = contexts(s)
    await send(s, 'a', { keep: true })
    await send(s, 'b')
    context.run('a', () => s.permits.get('a')?.done())
    await s.settle()
    expect(heard).toEqual(['a departs', 'b departs'])
  })

  test('reject is told in that of the request, whoever aborts it or closes the pacer', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    const heard = contexts(s)
    const giveUp = new AbortController()
    await send(s, 'a')
    await send(s, 'b', { signal: giveUp.signal })
    await send(s, 'c')
    await send(s, 'hasty', { maxWaitMs: 1 })
    context.run('who aborts', () => giveUp.abort())
    await context.run('who closes', () => s.pacer.close())
    expect(heard).toEqual(['a departs', 'hasty is refused', 'b is refused', 'c is refused'])
  })

  test('depart of one that waited for the policy of its host, or for its check', async () => {
    const policyFor = Object.assign(async () => ({ intervalMs: 1000 }), { check: async () => {} })
    const s = new Setting(make(), { policyFor })
    const heard = contexts(s)
    for (const name of ['a', 'b']) await send(s, name)
    await s.pass(1000)
    expect(heard).toEqual(['a departs', 'b departs'])
  })

  test('depart of one that has to wait for a resource of its host, which it learns of in line', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    const heard = contexts(s)
    await send(s, 'a', { keep: true })
    await send(s, 'b')
    const headers = { 'x-ratelimit-resource': 'search', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '5' }
    context.run('a', () => s.permits.get('a')?.done({ status: 200, headers }))
    await s.pass(10_000)
    expect(s.starts).toEqual(['a@0', 'b@5000'])
    expect(heard).toEqual(['a departs', 'b departs'])
  })
})
