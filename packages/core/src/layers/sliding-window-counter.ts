import { positiveNumber, wholeNumber } from '../checks.ts'
import { Layer, type LayerName } from './layer.ts'
import type { WindowOptions } from './sliding-window-log.ts'

/** Weighted counts are sums of fractions; so much is taken for a rounding error. */
const tolerance = 1e-9

/**
 * A window quota in constant memory, for very large limits.
 *
 * It counts departures in the aligned window of now and in the one before, and takes the earlier one
 * to have been evenly used: `previous * (share of it that still counts) + current <= limit`. Where
 * the earlier departures came unevenly, a window of unlucky start can see more than `limit`, in the
 * worst case nearly twice as many; `SlidingWindowLog` is exact.
 *
 * The state is the number of the present window, its count and the count of the one before.
 *
 * @throws {PolicyError} if `limit` is not a whole number of 1 or more, or `windowMs` not a finite number above 0
 */
export class SlidingWindowCounter extends Layer {
  readonly name: LayerName = 'quota'
  readonly rule = 'SlidingWindowCounter'
  readonly size = 3
  readonly maxCost: number
  readonly limit: number
  readonly windowMs: number

  constructor(options: WindowOptions) {
    super(options)
    this.limit = wholeNumber(options.limit, 'limit')
    this.windowMs = positiveNumber(options.windowMs, 'windowMs')
    this.maxCost = this.limit
  }

  reset(cells: Float64Array, at: number): void {
    cells[at] = Number.NEGATIVE_INFINITY
    cells[at + 1] = 0
    cells[at + 2] = 0
  }

  earliest(cells: Float64Array, at: number, nowMs: number, cost: number): number {
    const window = this.#windowAt(cells, at, nowMs)
    const current = this.#count(cells, at, window)
    const departMs = this.#permittedFrom(window, this.#count(cells, at, window - 1), current, cost)
    // Within this window, or in the next, where the present count is the previous one.
    return Math.max(nowMs, departMs ?? (this.#permittedFrom(window + 1, current, 0, cost) as number))
  }

  charge(cells: Float64Array, at: number, departMs: number, cost: number): void {
    const window = this.#windowAt(cells, at, departMs)
    const previous = this.#count(cells, at, window - 1)
    cells[at + 1] = this.#count(cells, at, window) + cost
    cells[at + 2] = previous
    cells[at] = window
  }

  restart(cells: Float64Array, at: number, atMs: number): void {
    if (this.credit(cells, at, atMs) <= 1) return
    // As if all but one request had been used evenly, in the window before and so far in this one.
    const window = this.#windowAt(cells, at, atMs)
    const current = this.#count(cells, at, window)
    const used = this.limit - 1
    cells[at] = window
    cells[at + 1] = Math.max(current, used * Math.max(0, atMs / this.windowMs - window))
    cells[at + 2] = used
  }

  recoveredAt(cells: Float64Array, at: number): number {
    return ((cells[at] as number) + 2) * this.windowMs
  }

  credit(cells: Float64Array, at: number, nowMs: number): number {
    const window = this.#windowAt(cells, at, nowMs)
    const share = Math.min(1, window + 1 - nowMs / this.windowMs)
    const used = this.#count(cells, at, window - 1) * share + this.#count(cells, at, window)
    return Math.max(0, this.limit - used)
  }

  override adopt(cells: Float64Array, at: number, former: Layer, saved: readonly number[], nowMs: number): void {
    // Windows of another length do not line up. What has been used stays used, as if just now.
    this.reset(cells, at)
    const old = former as SlidingWindowCounter
    const state = Float64Array.from(saved)
    const used = old.limit - old.credit(state, 0, nowMs)
    if (old.windowMs === this.windowMs) this.load(cells, at, saved)
    else if (used > 0) this.charge(cells, at, nowMs, used)
  }

  override isStrict(_cells: Float64Array, _at: number, lateMs: number): boolean {
    return this.windowMs < 4 * lateMs
  }

  describe(): { limit: number; windowMs: number } {
    return { limit: this.limit, windowMs: this.windowMs }
  }

  /** The window of `nowMs`, or the later one that has been charged already. */
  #windowAt(cells: Float64Array, at: number, nowMs: number): number {
    return Math.max(cells[at] as number, Math.floor(nowMs / this.windowMs))
  }

  #count(cells: Float64Array, at: number, window: number): number {
    if (window === cells[at]) return cells[at + 1] as number
    return window === (cells[at] as number) - 1 ? (cells[at + 2] as number) : 0
  }

  /** From when on in this window the weighted count leaves room for `cost`; `undefined` if not within it. */
  #permittedFrom(window: number, previous: number, current: number, cost: number): number | undefined {
    const room = this.limit - current - cost
    if (room >= previous - tolerance) return window * this.windowMs
    return room < -tolerance ? undefined : (window + 1 - Math.max(0, room) / previous) * this.windowMs
  }
}
