import { checkCost } from '../checks.ts'
import { type Clock, checkClock, systemClock } from '../clock.ts'
import type { Learned } from '../learning/learned.ts'

/** What asked for a wait. `'concurrency'` is a permit that was missing, `'none'` is no wait at all. */
export type LayerName = 'interval' | 'burst' | 'quota' | 'adaptive' | 'published' | 'pause' | 'concurrency' | 'none'

/** Options that every layer takes. */
export interface LayerOptions {
  /** Where `acquire`, `tryAcquire` and `earliestMs` get the time from. @default the clock of this process */
  clock?: Clock
}

/**
 * One rule with its own credit.
 *
 * A layer is used in two ways. On its own it keeps credit for one target, and `acquire`,
 * `tryAcquire` and `earliestMs` read the clock. Below these, the rule itself is pure arithmetic over
 * a few numbers that the caller keeps (`cells` from index `at`) and a time that the caller passes.
 * So one layer serves any number of hosts, and a store can keep the numbers wherever it likes.
 *
 * All times are milliseconds on one monotonic clock. Charges come in the order of their times. Once
 * a rule permits a departure at some moment, it permits it at every later one.
 */
export abstract class Layer {
  /** Under which name its waits are explained. */
  abstract readonly name: LayerName
  /** What the rule is called; written out, since bundlers shorten the names of classes. */
  abstract readonly rule: string
  /** How many numbers of state it keeps per host. */
  abstract readonly size: number
  /** The largest cost that can ever be permitted. */
  abstract readonly maxCost: number

  readonly #clock: Clock
  #own: Float64Array | undefined

  constructor({ clock = systemClock }: LayerOptions) {
    checkClock(clock, 'clock')
    this.#clock = clock
  }

  /** Sets the state of a host that has never been asked. */
  abstract reset(cells: Float64Array, at: number): void

  /** The earliest moment from `nowMs` on at which `cost` may depart. Takes nothing. */
  abstract earliest(cells: Float64Array, at: number, nowMs: number, cost: number): number

  /** Takes the credit of a departure at `departMs`, which `earliest` permitted. */
  abstract charge(cells: Float64Array, at: number, departMs: number, cost: number): void

  /** Lowers the credit so that from `atMs` on requests come one by one, never as a backlog at once. */
  abstract restart(cells: Float64Array, at: number, atMs: number): void

  /** From when on the state says no more than that of a host never asked. */
  abstract recoveredAt(cells: Float64Array, at: number): number

  /** How many requests might leave at `nowMs`. */
  abstract credit(cells: Float64Array, at: number, nowMs: number): number

  /**
   * Whether a departure that comes up to `lateMs` later than it was charged would bring the next one too near: then
   * several may not be promised ahead and left to somebody whose timer is late.
   */
  isStrict(_cells: Float64Array, _at: number, _lateMs: number): boolean {
    return true
  }

  /** The parameters of the rule, as plain JSON. */
  abstract describe(): Readonly<Record<string, number>>

  /** The state as a plain list of numbers that `load` takes. */
  save(cells: Float64Array, at: number): number[] {
    return Array.from(cells.subarray(at, at + this.size))
  }

  /** Sets the state to what `save` gave. */
  load(cells: Float64Array, at: number, saved: readonly number[]): void {
    cells.set(saved, at)
  }

  /** Takes over, as far as it can be, the credit used under `former`, a rule of the same class with other parameters. */
  adopt(cells: Float64Array, at: number, _former: Layer, saved: readonly number[], _nowMs: number): void {
    this.load(cells, at, saved)
  }

  /** Takes in what was learned of the host. Declared rules do not move. */
  learn(_cells: Float64Array, _at: number, _learned: Learned, _nowMs: number): void {}

  /** Frees what the state refers to outside of `cells`. */
  release(_cells: Float64Array, _at: number): void {}

  /**
   * Takes the credit of the next departure that the rule permits. It never sleeps: every caller gets
   * a slot of its own, so that those who wait never wake together.
   *
   * @param cost how many requests it counts as, a whole number
   * @returns the milliseconds to wait, 0 for go now
   * @throws {PolicyError} if `cost` could never be permitted
   */
  acquire(cost = 1): number {
    const nowMs = this.#clock.now()
    const departMs = this.#earliestAt(nowMs, cost)
    this.charge(this.#cells(), 0, departMs, cost)
    return departMs - nowMs
  }

  /** Takes the credit only if the request may go now. */
  tryAcquire(cost = 1): boolean {
    const nowMs = this.#clock.now()
    if (this.#earliestAt(nowMs, cost) > nowMs) return false
    this.charge(this.#cells(), 0, nowMs, cost)
    return true
  }

  /** What `acquire` would return; takes nothing. */
  earliestMs(cost = 1): number {
    const nowMs = this.#clock.now()
    return this.#earliestAt(nowMs, cost) - nowMs
  }

  #earliestAt(nowMs: number, cost: number): number {
    checkCost(cost, this.maxCost)
    return this.earliest(this.#cells(), 0, nowMs, cost)
  }

  #cells(): Float64Array {
    if (this.#own === undefined) {
      this.#own = new Float64Array(this.size)
      this.reset(this.#own, 0)
    }
    return this.#own
  }
}

/**
 * Sums of fractions are off by a few parts in 10^16, and a timer takes whole milliseconds. So that such a
 * trace does not cost one, a moment less than a nanosecond ahead is now.
 */
export const nanosecondMs = 1e-6
