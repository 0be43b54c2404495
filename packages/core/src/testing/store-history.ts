import type { Policy } from '../policy.ts'
import type { Slot } from '../slot.ts'
import { type OpenStores, StoreCaller, type StoreDriver } from './store-setting.ts'

/** What two callers of one host do to a store, one thing after another. */
export interface StoreHistory {
  readonly policy: Policy
  readonly steps: readonly HistoryStep[]
}

interface HistoryStep {
  readonly kind: (typeof kinds)[number]
  /** Milliseconds after the step before. */
  readonly afterMs: number
  readonly caller: 0 | 1
  /** Which of those that are there it is about, how long or how many; what it means depends on the kind. */
  readonly number: number
}

const kinds = [
  'leave',
  'leave',
  'leave',
  'retry',
  'retry',
  'sent',
  'sent',
  'giveBack',
  'reserve',
  'pause',
  'resume',
  'look',
] as const

const policies: readonly Policy[] = [
  { intervalMs: 700 },
  { rate: 3, capacity: 4 },
  { rate: 2, capacity: 1 },
  { quotas: [{ limit: 4, windowMs: 3000 }] },
  { quotas: [{ limit: 5, windowMs: 2000, window: 'counter' }] },
  { quotas: [{ limit: 3, windowMs: 2000, window: 'fixed' }] },
  { intervalMs: 300, rate: 4, quotas: [{ limit: 10, windowMs: 10_000 }] },
  {
    rate: 5,
    quotas: [
      { limit: 6, windowMs: 4000 },
      { limit: 9, windowMs: 9000, window: 'counter' },
    ],
  },
  { rate: 10, concurrency: 3 },
  {},
]

/** A history by chance, the same for the same seed. */
export function storeHistory(seed: number): StoreHistory {
  const chance = chances(seed)
  const policy = pick(policies, chance)
  const steps = Array.from({ length: 60 }, (): HistoryStep => {
    const afterMs = chance() < 0.4 ? 0 : Math.floor(chance() * 1500)
    return { kind: pick(kinds, chance), afterMs, caller: chance() < 0.5 ? 0 : 1, number: Math.floor(chance() * 1000) }
  })
  return { policy, steps }
}

/**
 * Plays a history on a store.
 *
 * @returns what the store said, in milliseconds: the same for every store
 */
export async function playStoreHistory({ policy, steps }: StoreHistory, driver: StoreDriver): Promise<string[]> {
  const open = await driver.open()
  try {
    const player = new Player(policy, open)
    for (const step of steps) await player.play(step)
    return player.said
  } finally {
    await open.close()
  }
}

class Player {
  readonly said: string[] = []
  readonly #callers: readonly StoreCaller[]
  readonly #advance: OpenStores['advance']
  /** What is promised, and what has left and is not on the wire. */
  readonly #promised: { caller: StoreCaller; slot: Slot }[] = []
  readonly #left: { caller: StoreCaller; slot: Slot }[] = []
  readonly #isBounded: boolean

  constructor(policy: Policy, { stores, nowMs, advance }: OpenStores) {
    const host = 'https://a.example'
    this.#callers = stores.map((store) => new StoreCaller(store, policy, host, nowMs))
    this.#advance = advance
    this.#isBounded = policy.concurrency !== undefined
  }

  async play({ kind, afterMs, caller: index, number }: HistoryStep): Promise<void> {
    if (afterMs > 0) await this.#advance(afterMs)
    const caller = this.#callers[index] as StoreCaller
    const cost = number % 4 === 0 ? 2 : 1
    if (kind === 'leave') this.#note(kind, caller, await caller.leave({ cost, reportsSent: true }))
    else if (kind === 'retry') await this.#retry(number)
    else if (kind === 'sent') await this.#sent(number)
    else if (kind === 'giveBack') await this.#giveBack(number)
    else if (kind === 'reserve') await this.#reserve(caller, number, cost)
    else if (kind === 'pause') await told(caller, () => caller.pause(number * 3))
    else if (kind === 'resume') await told(caller, () => caller.resume())
    else await this.#look(caller)
  }

  async #retry(number: number): Promise<void> {
    const taken = take(this.#promised, number)
    if (taken !== undefined) this.#note('retry', taken.caller, await taken.caller.retry(taken.slot, true))
  }

  async #sent(number: number): Promise<void> {
    const taken = take(this.#left, number)
    if (taken === undefined) return
    const { caller, slot } = taken
    await told(caller, () => {
      caller.sent(slot, slot.cost)
      if (this.#isBounded) caller.finish()
    })
  }

  async #giveBack(number: number): Promise<void> {
    const isPromise = number % 2 === 0
    const taken = take(isPromise ? this.#promised : this.#left, number)
    if (taken === undefined) return
    const { caller, slot } = taken
    await told(caller, () => {
      caller.giveBack(slot)
      if (this.#isBounded && !isPromise) caller.finish()
    })
  }

  async #reserve(caller: StoreCaller, number: number, cost: number): Promise<void> {
    const { waitMs } = await caller.reserve(number, cost)
    this.said.push(`reserve ${ms(waitMs)}`)
  }

  async #look(caller: StoreCaller): Promise<void> {
    const { forecast, nowMs, pausedMs, inFlight } = await caller.view()
    const waits = [1, 1, 2].map((cost) => ms(forecast.next(cost) - nowMs))
    forecast.end()
    this.said.push(`look ${waits.join(' ')} paused ${ms(pausedMs)} in flight ${inFlight}`)
  }

  #note(what: string, caller: StoreCaller, leave: Awaited<ReturnType<StoreCaller['leave']>>): void {
    if (leave.kind === 'gone') {
      this.#left.push({ caller, slot: leave.slot as Slot })
      this.said.push(`${what} gone`)
    } else if (leave.kind === 'promised') {
      this.#promised.push({ caller, slot: leave.slot })
      this.said.push(`${what} ${ms(leave.waitMs)} ${leave.slot.layer}`)
    } else {
      this.said.push(`${what} full`)
    }
  }
}

/** Tells a store something that it does not answer, and waits until it has heard. */
async function told(caller: StoreCaller, tell: () => void): Promise<void> {
  tell()
  const { forecast } = await caller.view()
  forecast.end()
}

function take<T>(from: T[], number: number): T | undefined {
  return from.splice(number % Math.max(1, from.length), 1)[0]
}

/** Waits to the microsecond: what is below is rounding. */
function ms(waitMs: number): string {
  return waitMs.toFixed(3)
}

function pick<T>(from: readonly T[], chance: () => number): T {
  return from[Math.floor(chance() * from.length)] as T
}

/** Numbers from 0 to 1 that look like chance (a linear congruential generator, by the constants of Knuth's MMIX). */
function chances(seed: number): () => number {
  let state = BigInt(seed)
  return () => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n)
    return Number(state >> 11n) / 2 ** 53
  }
}
