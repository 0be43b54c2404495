import type { Pacer, Reservation } from '@hostpace/core'

/** A URL whose turn has come. Hand the reservation on to the client, which then leaves in its slot. */
export interface Task {
  url: string
  reservation: Reservation
  /** Milliseconds that the URL stood at the front of its host's lane. */
  waitedMs: number
  /** How often this URL was tried before. */
  attempts: number
}

interface Entry {
  url: string
  attempts: number
}

interface Lane {
  readonly entries: Entry[]
  /** The slot of the first entry. Only one is held per host, so nobody else is kept waiting. */
  slot?: Slot
  /** Whether a task of this host is at work. One at a time is enough for a host that wants to be left in peace. */
  busy: boolean
}

interface Slot {
  readonly reservation: Reservation
  readonly sinceMs: number
  readonly dueMs: number
}

/** A task is handed out this much before its slot, so that its client stands ready when the time comes. */
const leadMs = 10

/**
 * The URLs that a crawl has still to fetch. Iterating hands them out in the order in which their
 * hosts may be asked: while one host has to be left alone, the others get their turn, and whoever
 * takes a task never sits waiting for a busy host.
 *
 * The iteration ends when nothing is left and `finished` has been called for every task.
 */
export class Frontier {
  readonly #pacer: Pacer
  readonly #unsubscribe: () => void
  readonly #seen = new Set<string>()
  readonly #lanes = new Map<string, Lane>()
  #stopped = false
  #wake: () => void = () => {}

  constructor(pacer: Pacer) {
    this.#pacer = pacer
    this.#unsubscribe = pacer.on('pause', ({ key }) => this.#dropSlot(key))
  }

  /** Queues a URL unless it was there before. */
  add(url: string): void {
    if (this.#seen.has(url)) return
    this.#seen.add(url)
    this.#enqueue({ url, attempts: 0 })
  }

  /** Says that a URL needs no visit, because a redirect has led there. */
  skip(url: string): void {
    this.#seen.add(url)
  }

  /** Queues a URL that was refused once more. */
  again({ url, attempts }: Task): void {
    this.#enqueue({ url, attempts: attempts + 1 })
  }

  /** Says that the links of a task are in; call it once for every task, also for one that failed. */
  finished({ url }: Task): void {
    const { origin } = new URL(url)
    const lane = this.#lanes.get(origin)
    if (lane?.entries.length === 0) this.#lanes.delete(origin)
    else if (lane !== undefined) lane.busy = false
    this.#wake()
  }

  /** Forgets what is queued and gives the slots back; the iteration ends once the tasks at work are finished. */
  stop(): void {
    this.#unsubscribe()
    this.#stopped = true
    for (const [key, lane] of this.#lanes) {
      this.#dropSlot(key)
      lane.entries.length = 0
      if (!lane.busy) this.#lanes.delete(key)
    }
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Task, void, void> {
    try {
      while (this.#lanes.size > 0) {
        const changed = new Promise<void>((resolve) => {
          this.#wake = resolve
        })
        const lane = await this.#earliest()
        const leftMs = lane === undefined ? Number.POSITIVE_INFINITY : lane.slot.dueMs - leadMs - performance.now()
        if (lane === undefined || leftMs > 0) await changedOrAfter(changed, leftMs)
        else yield this.#take(lane)
      }
    } finally {
      this.stop()
    }
  }

  #enqueue(entry: Entry): void {
    if (this.#stopped) return
    const { origin } = new URL(entry.url)
    const lane = this.#lanes.get(origin)
    if (lane === undefined) this.#lanes.set(origin, { entries: [entry], busy: false })
    else lane.entries.push(entry)
    this.#wake()
  }

  /** Reserves a slot for every host that has none, and finds the host that comes first. */
  async #earliest(): Promise<Required<Lane> | undefined> {
    let first: Required<Lane> | undefined
    for (const lane of this.#lanes.values()) {
      if (lane.busy || lane.entries.length === 0) continue
      lane.slot ??= await this.#reserve(lane.entries[0] as Entry)
      if (this.#stopped) {
        // It was stopped while the slot was being reserved.
        lane.slot.reservation.cancel()
        return undefined
      }
      if (first === undefined || lane.slot.dueMs < first.slot.dueMs) first = lane as Required<Lane>
    }
    return first
  }

  async #reserve({ url }: Entry): Promise<Slot> {
    const reservation = await this.#pacer.reserve(url)
    const nowMs = performance.now()
    return { reservation, sinceMs: nowMs, dueMs: nowMs + reservation.waitMs }
  }

  /** A slot in the time for which a host is held would be lost: it is given back, and another one reserved. */
  #dropSlot(key: string): void {
    const lane = this.#lanes.get(key)
    lane?.slot?.reservation.cancel()
    delete lane?.slot
    this.#wake()
  }

  #take(lane: Required<Lane>): Task {
    const { url, attempts } = lane.entries.shift() as Entry
    const { reservation, sinceMs } = lane.slot
    delete (lane as Lane).slot
    lane.busy = true
    return { url, attempts, reservation, waitedMs: performance.now() - sinceMs }
  }
}

async function changedOrAfter(changed: Promise<void>, delayMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const delay = new Promise<void>((resolve) => {
    if (Number.isFinite(delayMs)) timer = setTimeout(resolve, delayMs)
  })
  await Promise.race([changed, delay])
  clearTimeout(timer)
}
