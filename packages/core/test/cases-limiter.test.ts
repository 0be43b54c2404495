import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createPacer, memoryStore, QueueFullError, WaitTooLongError } from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'
import { describe, expect, test } from 'vitest'
import { range, Setting, stores, url } from './support/pacer-setting.ts'
import { TestClock } from './support/test-clock.ts'

/** The largest sum of costs in any half-open window; `starts` are times and costs. */
function worstWindow(starts: readonly (readonly [atMs: number, cost: number])[], windowMs: number): number {
  const sums = starts.map(([fromMs]) =>
    starts.reduce((sum, [atMs, cost]) => (atMs >= fromMs && atMs < fromMs + windowMs ? sum + cost : sum), 0),
  )
  return Math.max(...sums)
}

describe.each(stores)('$name', ({ make }) => {
  test('A01: a quota holds in every window, also around the edge of one', async () => {
    const s = new Setting(make(), { quotas: [{ limit: 10, windowMs: 1000 }] })
    await s.send('early')
    await s.pass(950)
    s.sendAll(range(20))
    await s.pass(5000)
    expect(s.times).toEqual([0, ...range(9).map(() => 950), 1000, ...range(9).map(() => 1950), 2000])
    const starts = s.times.map((time) => [time, 1] as const)
    expect(worstWindow(starts, 1000)).toBe(10)
  })

  describe('A02: waits longer than timers can take', () => {
    const monthMs = 2_592_000_000
    const limited = { status: 429, headers: { 'retry-after': '2592000' } }

    test('nobody leaves before thirty days are over, and exactly one then', async () => {
      const warnings: Error[] = []
      const listen = (warning: Error) => warnings.push(warning)
      process.on('warning', listen)
      const clock = new TestClock()
      const s = new Setting(make(), { rate: 1 }, clock)
      await s.send('first', { keep: true })
      s.permits.get('first')?.done(limited)
      s.sendAll(['second', 'third'])
      await s.pass(monthMs - 1)
      expect(s.names).toEqual(['first'])
      await s.pass(1)
      expect(s.starts).toEqual(['first@0', `second@${monthMs}`])
      for (const delay of clock.delays) expect(delay).toBeLessThanOrEqual(2 ** 31 - 1)
      process.off('warning', listen)
      expect(warnings).toEqual([])
    })

    test('with the timers of the system none overflows', async () => {
      const warnings: Error[] = []
      const listen = (warning: Error) => warnings.push(warning)
      process.on('warning', listen)
      const pacer = createPacer({ rate: 1, store: make() })
      pacer.observe(url, limited)
      let left = 0
      const waiting = pacer.wait(url).then(
        () => left++,
        () => {},
      )
      await new Promise((resolve) => setTimeout(resolve, 20))
      expect(left).toBe(0)
      await pacer.close()
      await waiting
      process.off('warning', listen)
      expect(warnings).toEqual([])
    })

    test('whoever will not wait so long hears of it at once', async () => {
      const s = new Setting(make(), { rate: 1, maxWaitMs: 60_000 })
      s.pacer.observe(url, limited)
      await s.send('hasty')
      expect(s.refusal('hasty')).toBeInstanceOf(WaitTooLongError)
      expect(s.refusal('hasty')).toMatchObject({ waitMs: monthMs })
    })

    test('neither Infinity nor NaN reaches a timer', async () => {
      const clock = new TestClock()
      const s = new Setting(make(), { rate: 1000, concurrency: 1 }, clock)
      for (const seconds of ['Infinity', 'NaN', '9'.repeat(400), '-1']) {
        s.pacer.observe('https://b.example/', { status: 503, headers: { 'retry-after': seconds } })
      }
      await s.send('b', { to: 'https://b.example/' })
      await s.send('holds', { keep: true })
      s.sendAll(['waits'])
      s.sendAll(['impatient'], { maxWaitMs: 1e15 })
      await s.pass(1000)
      s.pacer.pause(url, Number.MAX_SAFE_INTEGER)
      await s.pass(1000)
      expect(s.names).toEqual(['b', 'holds'])
      for (const delay of clock.delays) expect(delay).toSatisfy((ms: number) => ms >= 0 && ms <= 2 ** 31 - 1)
      await s.pacer.close()
    })
  })

  test('A03: those who give up leave no trace', async () => {
    const s = new Setting(make(), { intervalMs: 1000 })
    const signals = range(12, 1).map(() => new AbortController())
    for (const [index, { signal }] of signals.slice(0, 11).entries()) s.sendAll([`r${index + 1}`], { signal })
    await s.pass(100)
    for (const index of [5, 1, 9, 2, 8, 3, 7, 4, 6]) signals[index]?.abort(`r${index + 1}`)
    await Promise.resolve()
    await Promise.resolve()
    expect([...s.refusals.keys()].sort()).toEqual(['r10', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7', 'r8', 'r9'])
    expect(s.pacer.stats().total.queued).toBe(1)
    await s.send('never', { signal: AbortSignal.abort() })
    s.sendAll(['r12'])
    await s.pass(5000)
    expect(s.starts).toEqual(['r1@0', 'r11@1000', 'r12@2000'])
  })

  test('A05: steps of the wall clock change nothing', async () => {
    const clock = new TestClock()
    const s = new Setting(make(), { rate: 1, capacity: 1 }, clock)
    await s.send('a')
    await s.pass(500)
    clock.stepWall(-8 * 3_600_000)
    s.sendAll(['b'])
    await s.settle()
    expect((await s.pacer.explain(url)).waitMs).toBeLessThanOrEqual(1500)
    await s.pass(1100)
    clock.stepWall(3_600_000)
    s.sendAll(['c', 'd'])
    await s.pass(10_000)
    expect(s.starts).toEqual(['a@0', 'b@1000', 'c@2000', 'd@3000'])
    expect(Math.max(...clock.delays)).toBeLessThanOrEqual(1000)
  })

  test('A06: an idle host keeps what it used until it has recovered, and is gone then', async () => {
    const s = new Setting(make(), { intervalMs: 5000 })
    await s.send('r1', { keep: true })
    await s.pass(50)
    s.permits.get('r1')?.done({ status: 200 })
    await s.pass(5)
    s.pacer.sweep()
    await s.pass(5)
    s.sendAll(['r2'])
    await s.pass(4940)
    expect(s.starts).toEqual(['r1@0', 'r2@5000'])
    await s.pass(4999)
    s.pacer.sweep()
    expect(s.store.hosts.size).toBe(1)
    await s.pass(1)
    s.pacer.sweep()
    expect(s.store.hosts.size).toBe(0)
  })

  test('A07: a dear request is not overtaken by cheap ones', async () => {
    const s = new Setting(make(), { rate: '10r/s', capacity: 5 })
    await s.send('empties', { cost: 5 })
    s.sendAll(['five'], { cost: 5 })
    for (const name of ['w0', 'w100', 'w200', 'w300']) {
      s.sendAll([name])
      await s.pass(100)
    }
    await s.pass(5000)
    expect(s.starts).toEqual(['empties@0', 'five@500', 'w0@600', 'w100@700', 'w200@800', 'w300@900'])
  })

  test('A09: a light request does not slip in front of a heavy one', async () => {
    const s = new Setting(make(), { quotas: [{ limit: 5, windowMs: 100 }] })
    s.sendAll(['four'], { cost: 4 })
    s.sendAll(['five'], { cost: 5 })
    await s.pass(50)
    s.sendAll(['one'])
    await s.pass(1000)
    expect(s.starts).toEqual(['four@0', 'five@100', 'one@200'])
    expect(
      worstWindow(
        [
          [0, 4],
          [100, 5],
          [200, 1],
        ],
        100,
      ),
    ).toBeLessThanOrEqual(5)
  })

  test('A12: requests leave in the order in which they came', async () => {
    const s = new Setting(make(), { intervalMs: 10_000 })
    for (const name of range(5)) {
      s.sendAll([name])
      await s.pass(1000)
    }
    await s.pass(60_000)
    expect(s.starts).toEqual(['0@0', '1@10000', '2@20000', '3@30000', '4@40000'])
  })

  test('A13: after a timer that fired early the next one is on time', async () => {
    const clock = new TestClock(-0.5)
    const s = new Setting(make(), { intervalMs: 100 }, clock)
    s.sendAll(range(3))
    await s.pass(99.9)
    expect(s.times).toEqual([0])
    await s.pass(200)
    expect(s.times).toEqual([0, 100, 200])
  })

  test('A14: maxQueue bounds those who wait', async () => {
    const s = new Setting(make(), { intervalMs: 1000, maxQueue: 100 })
    s.sendAll(range(1000))
    await s.settle()
    expect(s.starts).toHaveLength(1)
    expect(s.pacer.stats().total).toMatchObject({ queued: 100, refused: 899 })
    expect([...s.refusals.values()].every((error) => error instanceof QueueFullError)).toBe(true)
    await s.pass(100_000)
    expect(s.starts).toHaveLength(101)
    expect(s.times.at(-1)).toBe(100_000)
  })

  test('A15: hosts that were seen once are not remembered', async () => {
    const count = make === memoryStore ? 100_000 : 5000
    const s = new Setting(make(), { intervalMs: 1000 })
    for (const host of range(count)) void s.send(String(host), { to: `https://h${host}.example/` })
    await s.pass(1)
    expect(s.starts).toHaveLength(count)
    expect(s.store.hosts.size).toBe(count)
    await s.pass(600_000)
    expect(s.pacer.stats().hosts).toEqual({})
    expect(s.store.hosts.size).toBe(0)
    s.sendAll(['again', 'after'], { to: 'https://h7.example/' })
    await s.pass(1000)
    expect(s.starts.slice(count)).toEqual(['again@600001', 'after@601001'])
  })

  test('A16: failures change neither the pace nor the number in flight', async () => {
    const s = new Setting(make(), { rate: '10r/s', quotas: [{ limit: 10, windowMs: 1000 }], adapt: false })
    const failures: unknown[] = []
    const starts: number[] = []
    const failure = new Error('404')
    for (const _ of range(30)) {
      s.pacer
        .run(url, () => {
          starts.push(s.clock.now())
          throw Object.assign(failure, { response: { status: 404 } })
        })
        .catch((error) => failures.push(error))
    }
    await s.pass(10_000)
    expect(failures).toEqual(range(30).map(() => failure))
    expect(
      worstWindow(
        starts.map((time) => [time, 1] as const),
        1000,
      ),
    ).toBe(10)
    expect(starts.filter((time) => time === 0)).toHaveLength(10)
    expect(s.pacer.stats().total).toMatchObject({ departures: 30, inFlight: 0 })
  })

  test('A16: by a quota, ten a second', async () => {
    const s = new Setting(make(), { quotas: [{ limit: 10, windowMs: 1000 }] })
    for (const name of range(30)) void s.pacer.run(url, () => void s.starts.push(`${name}@${s.clock.now()}`))
    await s.pass(10_000)
    expect(s.times).toEqual(range(30).map((index) => Math.floor(index / 10) * 1000))
  })

  test('A16: network errors give their permits back', async () => {
    const s = new Setting(make(), { rate: 1000, concurrency: 2 })
    let calls = 0
    const runs = range(6).map(() =>
      s.pacer.run(url, async () => {
        calls++
        throw new Error('ECONNRESET')
      }),
    )
    const settled = Promise.allSettled(runs)
    await s.pass(100)
    expect((await settled).map((result) => result.status)).toEqual(range(6).map(() => 'rejected'))
    expect(calls).toBe(6)
    expect(s.pacer.stats().total.inFlight).toBe(0)
    expect((await s.pacer.explain(url)).inFlight).toBe(0)
  })
})

describe('A04: what keeps a process alive', () => {
  const program = fileURLToPath(new URL('./support/short-program.ts', import.meta.url))

  /** Runs a pacer in a process that has nothing else to do. */
  function live(options: object, requests: number): Promise<{ code: number | null; left: number; lifeMs: number }> {
    return new Promise((resolve, reject) => {
      const args = ['--import', 'tsx', program, JSON.stringify(options), String(requests)]
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      let text = ''
      child.stdout.on('data', (chunk) => (text += chunk))
      child.on('error', reject)
      child.on('exit', (code) => {
        const times = text.trim().split('\n').map(Number)
        resolve({ code, left: times.length - 1, lifeMs: times.at(-1) as number })
      })
    })
  }

  test('a request that waits does', async () => {
    const { code, left, lifeMs } = await live({ quotas: [{ limit: 2, windowMs: 1000 }] }, 3)
    expect({ code, left }).toEqual({ code: 0, left: 3 })
    expect(lifeMs).toBeGreaterThanOrEqual(1000)
  })

  test('a pacer in which nobody waits does not', async () => {
    const { code, left, lifeMs } = await live({ quotas: [{ limit: 4, windowMs: 20_000 }] }, 3)
    expect({ code, left }).toEqual({ code: 0, left: 3 })
    expect(lifeMs).toBeLessThan(15_000)
  })
})

test('A13: with the clock of the system no gap is short', async () => {
  const store = memoryStore()
  const times: number[] = []
  const { leave, retry } = store
  // The moments at which the store let them go; whatever is read later only looks like a departure.
  const seen = (nowMs: number, answer: ReturnType<typeof leave>) => {
    if ('kind' in answer && answer.kind === 'gone') times.push(nowMs)
    return answer
  }
  store.leave = (...args) => seen(args[4], leave.apply(store, args))
  store.retry = (...args) => seen(args[4], retry.apply(store, args))
  const pacer = createPacer({ intervalMs: 4, store })
  await Promise.all(range(100).map(() => pacer.wait(url)))
  await pacer.close()
  expect(new Set(times).size).toBe(100)
  const gaps = [...new Set(times)].slice(1).map((time, index) => time - (times[index] as number))
  // A moment less than a nanosecond ahead is now.
  expect(Math.min(...gaps)).toBeGreaterThan(4 - 0.000_002)
})

test('A14: a waiter costs the same however long it waits', () => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const clock = new ManualClock()
  const pacer = createPacer({ intervalMs: 1_000_000, clock })
  const waiters = 500
  for (const _ of range(waiters + 1)) pacer.wait(url).catch(() => {})
  const heap = () => {
    gc()
    return process.memoryUsage().heapUsed
  }
  const everySecond = () => {
    for (const _ of range(60)) {
      clock.advance(1000)
      pacer.pause(url, 1)
    }
  }
  everySecond()
  const before = heap()
  for (const _ of range(9)) everySecond()
  const grownBytes = (heap() - before) / waiters
  expect(pacer.stats().total.queued).toBe(waiters)
  expect(grownBytes).toBeLessThan(1024)
  return pacer.close()
})
