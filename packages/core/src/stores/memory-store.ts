import { CellArena } from '../cell-arena.ts'
import { type HostKeeper, HostTable } from '../host-table.ts'
import type { LayerStack } from '../layer-stack.ts'
import { nanosecondMs } from '../layers/layer.ts'
import type { Learned } from '../learning/learned.ts'
import type { Limits } from '../limits.ts'
import type { Slot } from '../slot.ts'
import { type Place, SlotBook } from '../slot-book.ts'
import type { HostView, Leave, Store } from './store.ts'

/** A departure that is charged for good and leaves nothing to move. */
const goneForGood: Leave = { kind: 'gone', slot: undefined }
const full: Leave = { kind: 'full' }

/** The place of one whose slot is not there any more. */
const behindAll: Place = { order: Number.POSITIVE_INFINITY, departAtMs: Number.POSITIVE_INFINITY }

/** How long after its time a reserved slot waits for whoever reserved it: timers and schedulers are late. */
const claimableMs = 1000

/**
 * Keeps the credit in this process: nothing is shared with other processes and nothing survives a
 * restart, so four workers send four times the rate. It answers at once.
 */
export function memoryStore(): Store {
  return new MemoryStore()
}

class MemoryStore implements Store, HostKeeper {
  readonly hosts: HostTable = new HostTable()
  readonly #arenas = new Map<LayerStack, CellArena>()
  /** By host: where its state is. */
  readonly #arenaOf: (CellArena | undefined)[] = []
  readonly #cellOf: number[] = []
  /** What is promised or paused; most hosts have no book most of the time. */
  readonly #books = new Map<number, SlotBook>()
  /** An empty book for the next host that needs one: most are needed only until the request is written. */
  #spareBook: SlotBook | undefined
  /** Requests in flight of the hosts that bound them. */
  readonly #inFlight = new Map<number, number>()
  #latestMs = Number.NEGATIVE_INFINITY

  constructor() {
    this.hosts.join(this)
  }

  leave(
    host: number,
    limits: Limits,
    cost: number,
    reportsSent: boolean,
    clockMs: number,
    order = Number.POSITIVE_INFINITY,
  ): Leave {
    return this.#leave(host, limits, cost, reportsSent, clockMs, order, Number.POSITIVE_INFINITY)
  }

  retry(host: number, limits: Limits, slot: Slot, reportsSent: boolean, clockMs: number): Leave {
    const isStillPromised = this.#books.get(host)?.remove(slot) === true
    const { cost } = slot
    const { order, departAtMs } = isStillPromised ? slot : behindAll
    return this.#leave(host, limits, cost, reportsSent, clockMs, order, departAtMs)
  }

  reserve(
    host: number,
    limits: Limits,
    cost: number,
    fromMs: number,
    clockMs: number,
    order = Number.POSITIVE_INFINITY,
  ): Slot {
    const nowMs = this.#forward(clockMs)
    const { stack, cells } = this.#arena(host, limits)
    const book = this.#book(host)
    const { departMs, layer } = book.earliest(stack, cells, this.#cellOf[host] as number, nowMs, cost, fromMs)
    const slot: Slot = { departAtMs: departMs, order, layer, cost, held: false }
    book.add(slot)
    return slot
  }

  giveBack(host: number, _limits: Limits, slot: Slot, clockMs: number): void {
    const book = this.#books.get(host)
    if (book === undefined) return
    book.giveBack(slot, this.#forward(clockMs))
    this.#dropIfEmpty(host, book)
  }

  sent(host: number, limits: Limits, slot: Slot | undefined, cost: number, clockMs: number): void {
    const nowMs = this.#forward(clockMs)
    const arena = this.#arena(host, limits)
    if (slot === undefined) {
      arena.stack.measureIntervalFrom(arena.cells, this.#cellOf[host] as number, nowMs, cost)
    } else {
      this.#books.get(host)?.remove(slot)
      this.#depart(host, arena, cost, nowMs)
    }
  }

  finish(host: number): void {
    this.#count(host, -1)
  }

  pause(host: number, limits: Limits, forMs: number, clockMs: number): void {
    const nowMs = this.#forward(clockMs)
    const book = this.#settled(host, limits, nowMs)
    this.#pauseUntil(host, limits, Math.max(nowMs + forMs, book?.pausedUntilMs ?? nowMs), nowMs)
  }

  resume(host: number, limits: Limits, clockMs: number): void {
    if (this.#books.get(host)?.isPaused !== true) return
    const nowMs = this.#forward(clockMs)
    // One that is over ended when it did, though nobody has asked since.
    if (this.#settled(host, limits, nowMs)?.isPaused !== true) return
    this.#pauseUntil(host, limits, nowMs, nowMs)
  }

  learn(host: number, limits: Limits, learned: Learned, clockMs: number): void {
    const { stack, cells } = this.#arena(host, limits)
    stack.learn(cells, this.#cellOf[host] as number, learned, this.#forward(clockMs))
  }

  view(host: number, limits: Limits, clockMs: number): HostView {
    const nowMs = this.#forward(clockMs)
    const { stack, cells } = this.#arena(host, limits)
    const at = this.#cellOf[host] as number
    const book = this.#book(host)
    const forecast = book.forecast(stack, cells, at, nowMs)
    const pausedMs = Math.max(0, book.pausedUntilMs - nowMs)
    this.#dropIfEmpty(host, book)
    const inFlight = this.#inFlight.get(host) ?? 0
    return { credits: stack.credits(cells, at, nowMs), pausedMs, inFlight, forecast, nowMs }
  }

  adopt(host: number, former: Limits, limits: Limits, inFlight: number, clockMs: number): void {
    if (former.isBounded !== limits.isBounded) this.#count(host, limits.isBounded ? inFlight : -inFlight)
    const old = this.#arena(host, former)
    const oldAt = this.#cellOf[host] as number
    const arena = this.#arenaFor(limits.stack)
    const at = arena.add()
    const saved = old.stack.save(old.cells, oldAt)
    arena.stack.adopt(arena.cells, at, old.stack, saved, this.#forward(clockMs))
    this.#arenaOf[host] = arena
    this.#cellOf[host] = at
    this.#vacate(old, oldAt)
  }

  close(): void {
    this.hosts.leave(this)
  }

  mayForget(host: number, nowMs: number): boolean {
    const arena = this.#arenaOf[host]
    if (arena === undefined) return true
    const at = this.#cellOf[host] as number
    if (this.#inFlight.has(host) || this.#busyBook(host, arena, at, nowMs) !== undefined) return false
    return arena.stack.recoveredAt(arena.cells, at) <= nowMs
  }

  forget(host: number): void {
    const arena = this.#arenaOf[host]
    if (arena === undefined) return
    this.#arenaOf[host] = undefined
    this.#vacate(arena, this.#cellOf[host] as number)
  }

  #leave(
    host: number,
    limits: Limits,
    cost: number,
    reportsSent: boolean,
    clockMs: number,
    order: number,
    departAtMs: number,
  ): Leave {
    const nowMs = this.#forward(clockMs)
    const arena = this.#arena(host, limits)
    const at = this.#cellOf[host] as number
    const book = this.#busyBook(host, arena, at, nowMs)
    const place = book && { order, departAtMs }
    const found = place && book.turnOf(arena.stack, arena.cells, at, nowMs, cost, place)
    const departMs = found?.departMs ?? arena.stack.earliest(arena.cells, at, nowMs, cost)
    const layer = found?.layer ?? arena.stack.binding
    const isNow = departMs <= nowMs + nanosecondMs
    if (isNow && !this.#takePermit(host, limits)) return full
    if (place) book.makeRoom(arena.stack, arena.cells, at, nowMs, cost, place)
    if (isNow) return this.#go(host, arena, cost, reportsSent, nowMs)
    return this.#promise(host, { departAtMs: departMs, order, layer, cost, held: true }, nowMs)
  }

  #pauseUntil(host: number, limits: Limits, untilMs: number, nowMs: number): void {
    const arena = this.#arena(host, limits)
    const book = this.#book(host)
    book.pause(untilMs)
    book.settle(arena.stack, arena.cells, this.#cellOf[host] as number, nowMs)
    this.#dropIfEmpty(host, book)
  }

  /** A clock that steps back counts as one that stands still. */
  #forward(nowMs: number): number {
    if (nowMs > this.#latestMs) this.#latestMs = nowMs
    return this.#latestMs
  }

  #arena(host: number, limits: Limits): CellArena {
    const arena = this.#arenaOf[host]
    if (arena !== undefined) return arena
    const fresh = this.#arenaFor(limits.stack)
    this.#arenaOf[host] = fresh
    this.#cellOf[host] = fresh.add()
    return fresh
  }

  #arenaFor(stack: LayerStack): CellArena {
    const known = this.#arenas.get(stack)
    if (known !== undefined) return known
    const arena = new CellArena(stack)
    this.#arenas.set(stack, arena)
    return arena
  }

  #vacate(arena: CellArena, at: number): void {
    arena.remove(at)
    if (arena.isEmpty) this.#arenas.delete(arena.stack)
  }

  #book(host: number): SlotBook {
    const known = this.#books.get(host)
    if (known !== undefined) return known
    const book = this.#spareBook ?? new SlotBook(claimableMs)
    this.#spareBook = undefined
    this.#books.set(host, book)
    return book
  }

  /** The book of a host, brought up to now, if there is anything in it. */
  #busyBook(host: number, arena: CellArena, at: number, nowMs: number): SlotBook | undefined {
    const book = this.#books.get(host)
    if (book === undefined) return undefined
    book.settle(arena.stack, arena.cells, at, nowMs)
    this.#dropIfEmpty(host, book)
    return book.isEmpty ? undefined : book
  }

  #settled(host: number, limits: Limits, nowMs: number): SlotBook | undefined {
    const arena = this.#arena(host, limits)
    return this.#busyBook(host, arena, this.#cellOf[host] as number, nowMs)
  }

  #promise(host: number, slot: Slot, nowMs: number): Leave {
    this.#book(host).add(slot)
    return { kind: 'promised', slot, waitMs: slot.departAtMs - nowMs }
  }

  /** A request goes now. */
  #go(host: number, arena: CellArena, cost: number, reportsSent: boolean, nowMs: number): Leave {
    if (!reportsSent) {
      this.#depart(host, arena, cost, nowMs)
      return goneForGood
    }
    const slot: Slot = { departAtMs: nowMs, order: Number.NEGATIVE_INFINITY, layer: 'none', cost, held: true }
    this.#book(host).add(slot)
    return { kind: 'gone', slot }
  }

  #depart(host: number, arena: CellArena, cost: number, nowMs: number): void {
    const at = this.#cellOf[host] as number
    const book = this.#busyBook(host, arena, at, nowMs)
    if (book === undefined) {
      arena.stack.charge(arena.cells, at, nowMs, cost)
    } else {
      book.depart(arena.stack, arena.cells, at, nowMs, cost)
      this.#dropIfEmpty(host, book)
    }
  }

  #dropIfEmpty(host: number, book: SlotBook): void {
    if (!book.isEmpty) return
    this.#books.delete(host)
    this.#spareBook = book
  }

  #takePermit(host: number, limits: Limits): boolean {
    if (!limits.isBounded) return true
    if ((this.#inFlight.get(host) ?? 0) >= limits.concurrency) return false
    this.#count(host, 1)
    return true
  }

  #count(host: number, more: number): void {
    const inFlight = (this.#inFlight.get(host) ?? 0) + more
    if (inFlight > 0) this.#inFlight.set(host, inFlight)
    else this.#inFlight.delete(host)
  }
}
