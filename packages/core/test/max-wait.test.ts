import { memoryStore, type Store } from '@hostpace/core'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyPolicy } from './any-policy.ts'
import { Setting, stores, url } from './support/pacer-setting.ts'

type Step =
  | { readonly kind: 'send'; readonly maxWaitMs: number | undefined }
  | { readonly kind: 'abort' | 'reserve' | 'cancel'; readonly which: number }
  | { readonly kind: 'pass' | 'pause'; readonly ms: number }
  | { readonly kind: 'urgent' | 'resume' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      maxWaitMs: fc.option(fc.integer({ min: 0, max: 3000 }), { nil: undefined, freq: 4 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('abort', 'reserve', 'cancel'), which: fc.nat(20) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 1500 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pause' as const), ms: fc.integer({ min: 1, max: 1500 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('urgent' as const, 'resume' as const) }) },
)

test.each(stores)(
  'a request is refused at once exactly if it would wait longer than it will, $name',
  async ({ make }) => {
    let refused = 0
    await fc.assert(
      fc.asyncProperty(anyPolicy, fc.array(step, { minLength: 20, maxLength: 60 }), async (policy, steps) => {
        const s = new Setting(make(), policy)
        const controllers: AbortController[] = []
        const reservations: { cancel(): void }[] = []
        for (const [index, { kind, ...step }] of steps.entries()) {
          if (kind === 'send') {
            const { maxWaitMs } = step as { maxWaitMs: number | undefined }
            const { waitMs } = await s.pacer.peek(url)
            const controller = new AbortController()
            controllers.push(controller)
            void s.send(String(index), { maxWaitMs, signal: controller.signal })
            await s.settle()
            const isRefused = s.refusals.has(String(index))
            expect(isRefused, `step ${index} would wait ${waitMs}`).toBe(
              waitMs > (maxWaitMs ?? Number.POSITIVE_INFINITY) + 1e-6,
            )
            if (isRefused) refused++
          }
          if (kind === 'abort') controllers.at((step as { which: number }).which)?.abort()
          if (kind === 'reserve') reservations.push(await s.pacer.reserve(url))
          if (kind === 'cancel') reservations.at((step as { which: number }).which)?.cancel()
          if (kind === 'pass') await s.pass((step as { ms: number }).ms)
          if (kind === 'pause') s.pacer.pause(url, (step as { ms: number }).ms)
          if (kind === 'resume') s.pacer.resume(url)
          if (kind === 'urgent') void s.send(`urgent ${index}`, { priority: 1 })
          await s.settle()
        }
        await s.pacer.close()
      }),
      { numRuns: 300 },
    )
    expect(refused).toBeGreaterThan(100)
  },
)

/** A store that counts how often it is looked at. */
function countingStore(): Store & { views: number } {
  const inner = memoryStore()
  const store = Object.create(inner, {
    views: { value: 0, writable: true },
    view: {
      value: (...args: Parameters<Store['view']>) => {
        store.views++
        return inner.view(...args)
      },
    },
  })
  for (const name of ['leave', 'retry', 'reserve', 'giveBack', 'sent', 'finish', 'pause', 'close'] as const) {
    Object.defineProperty(store, name, { value: (inner[name] as () => unknown).bind(inner) })
  }
  return store
}

test('a newcomer is told of its wait without a look at all who wait', async () => {
  const store = countingStore()
  const s = new Setting(store, { intervalMs: 1000, maxWaitMs: 499_000 })
  s.sendAll(Array.from({ length: 1000 }, (_, index) => index))
  await s.settle()
  expect(s.refusals.size).toBe(500)
  expect(store.views).toBe(1)
  for (let second = 0; second < 400; second++) {
    await s.pass(1000)
    s.sendAll([`late ${second}`])
  }
  expect(s.refusals.size).toBe(500)
  expect(store.views).toBeLessThan(20)
})

test('those who go before others are told of together', async () => {
  const store = countingStore()
  const s = new Setting(store, { intervalMs: 1000 })
  const priorities = Array.from({ length: 1000 }, (_, index) => (index * 7919) % 1000)
  for (const priority of priorities) void s.send(String(priority), { priority, maxWaitMs: 499_000 })
  await s.settle()
  expect(store.views).toBeLessThan(5)
  expect(s.refusals.size).toBe(500)
  await s.pass(500_000)
  expect(s.refusals.size).toBe(500)
  // The first found nobody there. Of the others the 499 of the highest priority have waited no longer than they would.
  expect(s.names.slice(1)).toEqual(Array.from({ length: 499 }, (_, index) => String(999 - index)))
})

test('those who would be refused in a moment take nobody the place in a line that may hold so many', async () => {
  const s = new Setting(memoryStore(), { intervalMs: 1000, maxQueue: 4 })
  s.sendAll(['first', 'second', 'third'])
  s.sendAll(['low'], { maxWaitMs: 3000 })
  s.sendAll(['high'], { priority: 1 })
  s.sendAll(['last'])
  await s.settle()
  expect([...s.refusals.keys()]).toEqual(['low'])
  expect(s.refusal('low')).toMatchObject({ code: 'ERR_HOSTPACE_WAIT_TOO_LONG', waitMs: 4000 })
})
