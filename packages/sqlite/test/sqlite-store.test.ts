import { join } from 'node:path'
import { memoryStore, PolicyError } from '@hostpace/core'
import { ManualClock, playStoreHistory, type StoreDriver, storeHistory, storeScenarios } from '@hostpace/core/testing'
import { describe, expect, test } from 'vitest'
import { type SqliteStoreOptions, sqliteStore } from '../src/index.ts'
import { noSqlite, Program, sqliteDriver, TestMachine, url, withFolder } from './sqlite-setting.ts'

if (noSqlite !== false) console.log(`SQLite tests skipped: ${noSqlite}`)

const memory: StoreDriver = {
  open() {
    const clock = new ManualClock()
    const store = memoryStore()
    return {
      stores: [store, store],
      nowMs: () => clock.now(),
      advance: (ms) => clock.advanceAsync(ms),
      close: () => store.close(),
    }
  },
}

describe.skipIf(noSqlite !== false)('sqlite store', () => {
  for (const { name, run } of storeScenarios) test(name, () => run(sqliteDriver))

  test('says what the memory store says, whatever two processes do to it', async () => {
    for (let seed = 1; seed <= 100; seed++) {
      const history = storeHistory(seed)
      const said = await playStoreHistory(history, sqliteDriver)
      expect(said, `history ${seed} of ${JSON.stringify(history)}`).toEqual(await playStoreHistory(history, memory))
    }
  }, 60_000)
})

/** Programs that share a file, on a clock that a test sets. */
async function withPrograms(
  policies: readonly ConstructorParameters<typeof Program>[2][],
  use: (programs: readonly Program[], advance: (ms: number) => Promise<void>) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const machine = new TestMachine()
    const programs = policies.map((policy) => new Program(join(folder, 'pace.db'), machine, policy))
    await use(programs, (ms) => machine.clock.advanceAsync(ms))
    for (const program of programs) await program.close()
  })
}

describe.skipIf(noSqlite !== false)('processes on one file', () => {
  test('count together what is under one policy, and apart what is under another', () => {
    const [strict, lax] = [{ intervalMs: 1000 }, { intervalMs: 300 }]
    return withPrograms([strict, strict, lax], async (programs, advance) => {
      for (const program of programs) program.send(3)
      await advance(5000)
      const [one, same, other] = programs.map(({ departures }) => departures) as [number[], number[], number[]]
      expect([...one, ...same].sort((a, b) => a - b)).toEqual([0, 1000, 2000, 3000, 4000, 5000])
      expect(other).toEqual([0, 300, 600])
    })
  })

  test('get the permits of one that was killed once its lease is over, and not those of a live one (D04)', () => {
    const policy = { rate: 100, concurrency: 2 }
    return withPrograms([policy, policy, policy], async ([killed, other, third], advance) => {
      for (let request = 0; request < 2; request++) await killed?.pacer.wait(url)
      // Killed at 1 s: it says nothing any more.
      await advance(1000)
      void killed?.store.close()
      const held: { done(): void }[] = []
      for (let request = 0; request < 2; request++) void other?.pacer.wait(url).then((permit) => held.push(permit))
      await advance(28_000)
      expect(held).toHaveLength(0)
      await advance(2000)
      expect(held).toHaveLength(2)

      third?.send(2)
      await advance(75_000)
      expect(third?.departures).toEqual([])
      held[0]?.done()
      await advance(100)
      // What it held for longer than a lease was its own, and it frees nobody else's.
      expect(third?.departures).toHaveLength(2)
      held[1]?.done()
    })
  })

  test('strike out what one that was killed was promised', () => {
    const policy = { intervalMs: 10_000 }
    return withPrograms([policy, policy], async ([killed, other], advance) => {
      killed?.send(2)
      await advance(0)
      void killed?.store.close()
      other?.send(2)
      await advance(60_000)
      // The slot at 10 s nobody used; its lease was over at 30 s.
      expect(other?.departures[0]).toBeGreaterThanOrEqual(10_000)
      expect(other?.departures).toHaveLength(2)
    })
  })

  test('learn from each other: a limit answer holds all, and what a host publishes paces all', () =>
    withPrograms([{ rate: 10 }, { rate: 10 }], async ([one, other], advance) => {
      other?.send(1)
      await advance(100)
      const headers = { 'ratelimit-limit': '10', 'ratelimit-remaining': '2', 'ratelimit-reset': '40' }
      one?.pacer.observe(url, { status: 200, headers })
      await advance(100)
      expect((await other?.pacer.explain(url))?.learned?.published).toMatchObject([{ limit: 10, remaining: 2 }])

      one?.pacer.observe(url, { status: 429, headers: { 'retry-after': '60' } })
      await advance(0)
      expect(await other?.pacer.peek(url)).toMatchObject({ waitMs: 60_000, layer: 'pause' })
      expect(String(await other?.pacer.explain(url))).toContain('60000')
    }))
})

describe('options', () => {
  test.each([
    { options: undefined, path: 'options' },
    { options: null, path: 'options' },
    { options: {}, path: 'options.path' },
    { options: { path: '' }, path: 'options.path' },
    { options: { path: ':memory:' }, path: 'options.path' },
    { options: { path: 7 }, path: 'options.path' },
    { options: { path: 'a.db', timeoutMs: 0 }, path: 'options.timeoutMs' },
    { options: { path: 'a.db', leaseMs: '30' }, path: 'options.leaseMs' },
    { options: { path: 'a.db', horizonMs: Number.NaN }, path: 'options.horizonMs' },
    { options: { path: 'a.db', onStoreError: 'ignore' }, path: 'options.onStoreError' },
    { options: { path: 'a.db', clock: {} }, path: 'options.clock' },
    { options: { path: 'a.db', file: 'b.db' }, path: 'options.file' },
  ])('that make no sense are refused by name: $options', ({ options, path }) => {
    const make = () => sqliteStore(options as unknown as SqliteStoreOptions)
    expect(make).toThrow(PolicyError)
    expect(make).toThrow(expect.objectContaining({ path: expect.stringContaining(path) }))
  })
})
