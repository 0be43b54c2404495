import { stat } from 'node:fs/promises'
import { createPacer, type Pacer, type PacerOptions, StoreError } from '@hostpace/core'
import {
  HostState,
  type Ledger,
  type LedgerCall,
  type LedgerReply,
  MemoryLedger,
  noNotice,
  type SavedHost,
  SharedStore,
  type SharedStoreOptions,
} from '@hostpace/core/stores'
import { ManualClock } from '@hostpace/core/testing'
import { describe, expect, test } from 'vitest'
import { LateLedger } from '../support/ledgers.ts'

const url = 'https://a.example/'

/** A ledger that fails, is silent or loses its memory when a test says so. */
class FaultyLedger extends LateLedger {
  mode: 'well' | 'failing' | 'silent' | 'unheard' = 'well'
  calls = 0
  delayMs = 0
  readonly #memory: MemoryLedger
  readonly #clock: ManualClock

  constructor(memory: MemoryLedger, clock: ManualClock) {
    super(memory)
    this.#memory = memory
    this.#clock = clock
  }

  override async decide(call: LedgerCall): Promise<LedgerReply> {
    this.calls++
    const reply = await this.#decide(call)
    if (this.delayMs > 0) await new Promise<void>((resolve) => this.#clock.setTimer(resolve, this.delayMs))
    return reply
  }

  #decide(call: LedgerCall): Promise<LedgerReply> {
    if (this.mode === 'failing') return Promise.reject(new Error('gone'))
    if (this.mode === 'silent') return new Promise(() => {})
    // Carried out, and the answer gets lost.
    if (this.mode === 'unheard') return super.decide(call).then(() => new Promise(() => {}))
    return super.decide(call)
  }

  loseAll(): void {
    this.#memory.clear()
  }

  override close(): void {}
}

/** A ledger with a replica of it, which is as it was when it was last told. */
class ReplicatedLedger implements Ledger {
  readonly #clock: ManualClock
  readonly #notice = noNotice()
  #saved: SavedHost | undefined
  #replica: SavedHost | undefined

  constructor(clock: ManualClock) {
    this.#clock = clock
  }

  decide(call: LedgerCall): LedgerReply {
    const state = new HostState(call.limits, this.#saved)
    const reply = state.decide(call, this.#notice, this.#clock.now(), () => undefined)
    if (reply.lost !== true) this.#saved = state.save()
    state.release()
    return reply
  }

  replicate(): void {
    this.#replica = this.#saved
  }

  promoteReplica(): void {
    this.#saved = this.#replica
  }

  close(): void {}
}

/** Processes that share one host, each with a connection of its own. */
function processes(count: number, policy: PacerOptions, options: SharedStoreOptions = {}) {
  const clock = new ManualClock()
  const memory = new MemoryLedger(clock)
  const all = Array.from({ length: count }, () => {
    const ledger = new FaultyLedger(memory, clock)
    const pacer = createPacer({ ...policy, clock, store: new SharedStore(ledger, { clock, ...options }) })
    const departures: number[] = []
    const errors: unknown[] = []
    const failures: unknown[] = []
    pacer.on('store-error', ({ error }) => failures.push(error))
    return { pacer, ledger, departures, errors, failures }
  })
  const send = (process: (typeof all)[number], requests: number, options = {}) => {
    for (let request = 0; request < requests; request++) {
      process.pacer.wait(url, options).then(
        (permit) => {
          process.departures.push(clock.now())
          permit.sent()
          permit.done()
        },
        (error: unknown) => process.errors.push(error),
      )
    }
  }
  return { clock, memory, all, send }
}

/** Departures of all, with the times of those that came later than `fromMs`. */
function departuresOf(all: readonly { departures: number[] }[], fromMs = Number.NEGATIVE_INFINITY): number[] {
  return all.flatMap(({ departures }) => departures.filter((atMs) => atMs >= fromMs)).sort((a, b) => a - b)
}

function mostIn(windowMs: number, times: readonly number[]): number {
  return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + windowMs).length))
}

async function closeAll(all: readonly { pacer: Pacer }[]): Promise<void> {
  for (const { pacer } of all) await pacer.close()
}

describe('round trips', () => {
  test('those who wait in one process are promised their slots together', async () => {
    const { clock, all, send } = processes(1, { rate: '1000r/s', capacity: 1000 })
    const [one] = all as [(typeof all)[0]]
    send(one, 5000)
    await clock.advanceAsync(5000)
    expect(one.departures).toHaveLength(5000)
    expect(mostIn(1000, one.departures)).toBeLessThanOrEqual(2000)
    expect(one.ledger.calls).toBeLessThan(500)
    await closeAll(all)
  })

  test.each([
    { count: 2, policy: { rate: '50r/s', capacity: 2 }, share: 0.97 },
    { count: 8, policy: { rate: '50r/s', capacity: 2 }, share: 0.97 },
    // Each departure of a gap is as late as the answer of the ledger is.
    { count: 8, policy: { intervalMs: 20 }, share: 0.9 },
  ])('$count processes get all of $policy, and each its part', async ({ count, policy, share }) => {
    const { clock, all, send } = processes(count, policy)
    for (const process of all) {
      process.ledger.delayMs = 1
      // Each departure is followed by a request, as of clients that send one after another.
      process.pacer.on('depart', () => clock.setTimer(() => send(process, 1, { reportsSent: true }), 3))
      send(process, 20, { reportsSent: true })
    }
    await clock.advanceAsync(4000)
    const times = departuresOf(all)
    expect(times.length).toBeGreaterThanOrEqual(share * 200)
    expect(mostIn(1000, times)).toBeLessThanOrEqual(52)
    for (const { departures } of all) expect(departures.length).toBeGreaterThanOrEqual((0.7 * 200) / count)
    await closeAll(all)
  })

  test('a declared interval is asked for one by one', async () => {
    const { clock, all, send } = processes(2, { intervalMs: 20 })
    for (const process of all) send(process, 50)
    await clock.advanceAsync(2000)
    const times = departuresOf(all)
    expect(times).toHaveLength(100)
    expect(times.map((at, index) => at - (times[index - 1] ?? -20))).toEqual(times.map(() => 20))
    await closeAll(all)
  })

  test('slots that were promised ahead and that nobody uses go back', async () => {
    const { clock, all, send } = processes(2, { rate: '100r/s', capacity: 2 })
    const [one, other] = all as [(typeof all)[0], (typeof all)[0]]
    const giveUp = new AbortController()
    send(one, 50, { signal: giveUp.signal })
    await clock.advanceAsync(1)
    giveUp.abort()
    await clock.advanceAsync(300)
    send(other, 2)
    await clock.advanceAsync(0)
    expect(other.departures).toHaveLength(2)
    await closeAll(all)
  })

  test('a pause by one process stops another within the horizon', async () => {
    const { clock, all, send } = processes(2, { rate: '100r/s', capacity: 2 })
    const [one, other] = all as [(typeof all)[0], (typeof all)[0]]
    send(other, 500)
    await clock.advanceAsync(500)
    one.pacer.pause(url, 10_000)
    await clock.advanceAsync(9000)
    const pausedAtMs = 500
    expect(Math.max(...other.departures)).toBeLessThanOrEqual(pausedAtMs + 100 + 1)
    await clock.advanceAsync(20_000)
    expect(other.departures).toHaveLength(500)
    await closeAll(all)
  })
})

test('a pause by the process itself stops it at once, whatever was promised ahead or is on its way', async () => {
  const { clock, all, send } = processes(1, { rate: '100r/s', capacity: 2 })
  const [one] = all as [(typeof all)[0]]
  one.ledger.delayMs = 30
  for (const pausedAtMs of [500, 15_515]) {
    send(one, 500)
    await clock.advanceAsync(pausedAtMs - clock.now())
    one.pacer.pause(url, 10_000)
    await clock.advanceAsync(9900)
    expect(one.departures.filter((at) => at > pausedAtMs)).toEqual([])
    await clock.advanceAsync(5000)
  }
  await closeAll(all)
})

test('an answer that is there when the process goes on after it stood still has come in time', async () => {
  const memory = new MemoryLedger(new ManualClock())
  const ledger: Ledger = {
    // Its answer is read from outside of this thread, as one from a socket is.
    decide: (call) => stat('.').then(() => memory.decide(call)),
    close: () => {},
  }
  const store = new SharedStore(ledger, { timeoutMs: 20, onStoreError: 'throw' })
  const pacer = createPacer({ rate: '10r/s', store })
  const permit = pacer.wait(url)
  await undefined
  const fromMs = performance.now()
  while (performance.now() - fromMs < 200);
  await expect(permit).resolves.toMatchObject({ waitedMs: expect.any(Number) })
  await pacer.close()
  await store.close()
})

test.each([350, 1000])(
  'a replica with an old state, promoted after %i ms, holds nobody back for whom has left',
  async (atMs) => {
    const clock = new ManualClock()
    const ledger = new ReplicatedLedger(clock)
    const pacers = [0, 1].map(() => {
      const store = new SharedStore(new LateLedger(ledger), { clock })
      return createPacer({ intervalMs: 100, adapt: false, clock, store })
    }) as [Pacer, Pacer]
    const departures: number[] = []
    const sendAll = () => {
      for (const pacer of [...pacers, ...pacers]) {
        pacer.wait(url).then((permit) => {
          departures.push(clock.now())
          permit.done()
        })
      }
    }
    const [, second] = pacers
    second.wait(url, { reportsSent: true }).then((permit) => {
      ledger.replicate()
      permit.sent()
      permit.done()
    })
    await clock.advanceAsync(0)
    sendAll()
    await clock.advanceAsync(atMs)
    ledger.promoteReplica()
    sendAll()
    await clock.advanceAsync(3000)
    expect(departures).toHaveLength(8)
    for (const pacer of pacers) await pacer.close()
  },
)

test('what a call took whose answer got lost is given back with the next', async () => {
  const { clock, all, send } = processes(2, { intervalMs: 1000 })
  const [one, other] = all as [(typeof all)[0], (typeof all)[0]]
  one.ledger.mode = 'unheard'
  send(one, 1)
  await clock.advanceAsync(300)
  one.ledger.mode = 'well'
  await clock.advanceAsync(5000)
  send(other, 5)
  await clock.advanceAsync(5000)
  expect(other.departures).toHaveLength(5)
  await closeAll(all)
})

describe('a ledger that fails', () => {
  test.each(['failing', 'silent', 'unheard'] as const)(
    '%s: each process paces by its share, and rejoins',
    async (mode) => {
      const { clock, all, send } = processes(4, { rate: '10r/s', capacity: 10 })
      for (const process of all) send(process, 200)
      await clock.advanceAsync(3000)
      for (const { ledger } of all) ledger.mode = mode
      await clock.advanceAsync(10_000)
      for (const { ledger } of all) ledger.mode = 'well'
      await clock.advanceAsync(10_000)
      const times = departuresOf(all)
      for (const { failures, errors } of all) {
        expect(failures).toHaveLength(1)
        expect(failures[0]).toBeInstanceOf(StoreError)
        expect(errors).toEqual([])
      }
      for (const windowMs of [1000, 5000, 20_000]) {
        expect(mostIn(windowMs, times), `${windowMs} ms`).toBeLessThanOrEqual(10 + windowMs / 100)
      }
      // It stands still for no longer than it takes to notice, and goes on at nearly full rate afterwards.
      expect(times.filter((at) => at > 3000 && at <= 13_000).length).toBeGreaterThan(70)
      expect(times.filter((at) => at > 14_000).length).toBeGreaterThan(80)
      await closeAll(all)
    },
  )

  test('a gap is kept after a departure of which the ledger could not be told', async () => {
    const { clock, all, send } = processes(1, { intervalMs: 1000, adapt: false })
    const [one] = all as [(typeof all)[0]]
    one.pacer.wait(url).then(() => one.departures.push(clock.now()))
    one.ledger.mode = 'failing'
    await clock.advanceAsync(0)
    send(one, 1)
    await clock.advanceAsync(3000)
    expect(one.departures).toEqual([0, 1000])
    await closeAll(all)
  })

  test('a quota is not spent twice over an outage', async () => {
    const policy = { rate: '5r/s', capacity: 5, quotas: [{ limit: 40, windowMs: 60_000 }] }
    const { clock, all, send } = processes(2, policy)
    for (const process of all) send(process, 100)
    await clock.advanceAsync(3000)
    for (const { ledger } of all) ledger.mode = 'failing'
    await clock.advanceAsync(5000)
    for (const { ledger } of all) ledger.mode = 'well'
    await clock.advanceAsync(50_000)
    const times = departuresOf(all)
    expect(mostIn(60_000, times)).toBeLessThanOrEqual(40)
    expect(times.length).toBeGreaterThanOrEqual(38)
    await closeAll(all)
  })

  test('never reached: no more than the rate in one process, from the time-out on', async () => {
    const { clock, all, send } = processes(1, { rate: '10r/s' }, { timeoutMs: 500 })
    const [one] = all as [(typeof all)[0]]
    one.ledger.mode = 'silent'
    send(one, 1000)
    await clock.advanceAsync(499)
    expect(one.departures).toEqual([])
    await clock.advanceAsync(2)
    expect(one.departures.length).toBeGreaterThan(0)
    await clock.advanceAsync(10_000)
    expect(mostIn(1000, one.departures)).toBeLessThanOrEqual(10)
    expect(one.failures).toHaveLength(1)
    await closeAll(all)
  })

  test("'throw' rejects those who ask and tells of it once", async () => {
    const { clock, all, send } = processes(1, { rate: '10r/s' }, { onStoreError: 'throw' })
    const [one] = all as [(typeof all)[0]]
    one.ledger.mode = 'failing'
    send(one, 3)
    await clock.advanceAsync(1000)
    expect(one.errors).toHaveLength(3)
    for (const error of one.errors) expect(error).toMatchObject({ code: 'ERR_HOSTPACE_STORE' })
    expect(one.failures).toHaveLength(1)
    one.ledger.mode = 'well'
    send(one, 1)
    await clock.advanceAsync(0)
    expect(one.departures).toHaveLength(1)
    await closeAll(all)
  })

  test("'wait' lets nothing go until the ledger is back, and honours signals", async () => {
    const { clock, all, send } = processes(1, { rate: '10r/s' }, { onStoreError: 'wait' })
    const [one] = all as [(typeof all)[0]]
    one.ledger.mode = 'silent'
    const giveUp = new AbortController()
    send(one, 1, { signal: giveUp.signal })
    send(one, 5)
    await clock.advanceAsync(5000)
    expect([one.departures, one.errors]).toEqual([[], []])
    giveUp.abort('enough')
    await clock.advanceAsync(0)
    expect(one.errors).toEqual(['enough'])
    one.ledger.mode = 'well'
    await clock.advanceAsync(1000)
    expect(one.departures).toHaveLength(5)
    expect(one.failures).toHaveLength(1)
    await closeAll(all)
  })
})

describe('a ledger that loses its memory', () => {
  test('a quota goes on where it was', async () => {
    const policy = { rate: '10r/s', capacity: 10, quotas: [{ limit: 30, windowMs: 60_000 }] }
    const { clock, all, send } = processes(3, policy)
    for (const process of all) send(process, 7)
    await clock.advanceAsync(5000)
    expect(departuresOf(all)).toHaveLength(21)
    ;(all[0] as (typeof all)[0]).ledger.loseAll()
    for (const process of all) send(process, 20)
    await clock.advanceAsync(50_000)
    expect(departuresOf(all)).toHaveLength(30)
    await closeAll(all)
  })

  test('a burst is not had twice', async () => {
    const { clock, all, send } = processes(2, { rate: '1r/s', capacity: 1 })
    const [one, other] = all as [(typeof all)[0], (typeof all)[0]]
    send(one, 1)
    send(other, 1)
    await clock.advanceAsync(1000)
    expect(departuresOf(all)).toHaveLength(2)
    one.ledger.loseAll()
    send(other, 1)
    await clock.advanceAsync(0)
    expect(departuresOf(all)).toHaveLength(2)
    await closeAll(all)
  })
})

describe('processes that die', () => {
  test('permits and slots of one that is killed come free with its lease, and those of a live one do not (D04)', async () => {
    const { clock, all, send } = processes(2, { rate: 100, concurrency: 2 })
    const [killed, other] = all as [(typeof all)[0], (typeof all)[0]]
    await Promise.all([killed.pacer.wait(url), killed.pacer.wait(url), clock.advanceAsync(100)])
    killed.ledger.mode = 'silent'
    send(other, 2)
    await clock.advanceAsync(29_000)
    expect(other.departures).toEqual([])
    await clock.advanceAsync(2000)
    expect(other.departures).toHaveLength(2)
    await closeAll([other])
  })

  test('one that works longer than a lease keeps its permits (D04)', async () => {
    const { clock, all } = processes(2, { rate: 100, concurrency: 2 })
    const [holder, other] = all as [(typeof all)[0], (typeof all)[0]]
    const [first, second] = await Promise.all([holder.pacer.wait(url), holder.pacer.wait(url), clock.advanceAsync(100)])
    first.sent()
    second.sent()
    let got = 0
    for (let request = 0; request < 2; request++) void other.pacer.wait(url).then(() => got++)
    await clock.advanceAsync(75_000)
    expect(got).toBe(0)
    first.done()
    await clock.advanceAsync(100)
    expect(got).toBe(1)
    second.done()
    await clock.advanceAsync(100)
    expect(got).toBe(2)
    await closeAll(all)
  })

  test('a slot that was about to be sent counts as sent', async () => {
    const { clock, all, send } = processes(2, { intervalMs: 1000 })
    const [killed, other] = all as [(typeof all)[0], (typeof all)[0]]
    await Promise.all([killed.pacer.wait(url, { reportsSent: true }), clock.advanceAsync(0)])
    killed.ledger.mode = 'silent'
    send(other, 1)
    await clock.advanceAsync(29_000)
    expect(other.departures).toEqual([])
    await clock.advanceAsync(3000)
    expect(other.departures).toHaveLength(1)
    await closeAll([other])
  })
})

test('what a dead process was about to send is used up', async () => {
  const { clock, all, send } = processes(2, { rate: 10, quotas: [{ limit: 1, windowMs: 60_000 }] })
  const [killed, other] = all as [(typeof all)[0], (typeof all)[0]]
  await Promise.all([killed.pacer.wait(url, { reportsSent: true }), clock.advanceAsync(0)])
  killed.ledger.mode = 'silent'
  send(other, 1)
  await clock.advanceAsync(59_000)
  expect(other.departures).toEqual([])
  await clock.advanceAsync(2000)
  expect(other.departures).toHaveLength(1)
  await closeAll([other])
})

describe('what is learned', () => {
  test('by one process, paces the others', async () => {
    const { clock, all, send } = processes(2, {})
    const [one, other] = all as [(typeof all)[0], (typeof all)[0]]
    send(one, 1)
    send(other, 1)
    await clock.advanceAsync(5000)
    const headers = { 'ratelimit-limit': '10', 'ratelimit-remaining': '1', 'ratelimit-reset': '40' }
    one.pacer.observe(url, { status: 200, headers })
    await clock.advanceAsync(100)
    expect((await Promise.all([other.pacer.peek(url), clock.advanceAsync(10)]))[0].waitMs).toBeGreaterThan(20_000)
    const [explained] = await Promise.all([other.pacer.explain(url), clock.advanceAsync(10)])
    expect(explained.learned?.published).toMatchObject([{ limit: 10, remaining: 1 }])
    await closeAll(all)
  })
})
