import { positiveNumber, wholeNumber } from '../checks.ts'
import { Layer, type LayerName, type LayerOptions } from './layer.ts'

export interface WindowOptions extends LayerOptions {
  /** How many requests per window, a whole number of 1 or more. */
  limit: number
  /** How long a window is in milliseconds, above 0. */
  windowMs: number
}

/** A quota that starts again gently comes free in so many parts at the most: each is an entry to be kept. */
const mostParts = 10_000

/** A list of departures: time, cost, time, cost, ... from the oldest to the newest. */
type Log = number[]

/**
 * Never more than `limit` in any window, wherever the window starts. For "1000 per hour".
 *
 * It remembers each departure of the last window, so it is exact: in every half-open interval of
 * `windowMs` milliseconds at most `limit` requests leave. Departures of one instant share an entry.
 * Memory grows with the requests of a window; see `SlidingWindowCounter` for very large limits.
 *
 * The state is the number of the log, where in it the oldest departure that counts stands, and the
 * sum of the costs from there on.
 *
 * @throws {PolicyError} if `limit` is not a whole number of 1 or more, or `windowMs` not a finite number above 0
 */
export class SlidingWindowLog extends Layer {
  readonly name: LayerName = 'quota'
  readonly rule = 'SlidingWindowLog'
  readonly size = 3
  readonly maxCost: number
  readonly limit: number
  readonly windowMs: number
  /** Logs by number. Number 0 stands for a log without entries. */
  readonly #logs: (Log | undefined)[] = [undefined]
  readonly #freeNumbers: number[] = []

  constructor(options: WindowOptions) {
    super(options)
    this.limit = wholeNumber(options.limit, 'limit')
    this.windowMs = positiveNumber(options.windowMs, 'windowMs')
    this.maxCost = this.limit
  }

  reset(cells: Float64Array, at: number): void {
    cells.fill(0, at, at + 3)
  }

  earliest(cells: Float64Array, at: number, nowMs: number, cost: number): number {
    const log = this.#logs[cells[at] as number]
    if (log === undefined) return nowMs
    // Those before the newest were there first; nobody departs ahead of them.
    let departMs = Math.max(nowMs, log[log.length - 2] as number)
    let used = cells[at + 2] as number
    for (let entry = cells[at + 1] as number; entry < log.length; entry += 2) {
      const leavesWindowMs = (log[entry] as number) + this.windowMs
      if (leavesWindowMs > departMs) {
        if (used + cost <= this.limit) break
        departMs = leavesWindowMs
      }
      used -= log[entry + 1] as number
    }
    return departMs
  }

  charge(cells: Float64Array, at: number, departMs: number, cost: number): void {
    const log = this.#logs[cells[at] as number]
    if (log === undefined) {
      cells[at] = this.#keep([departMs, cost])
    } else if ((log[log.length - 2] as number) + this.windowMs <= departMs) {
      this.#startAnew(log, cells, at, departMs, cost)
    } else {
      this.#dropBefore(log, cells, at, departMs)
      if (log[log.length - 2] === departMs) log[log.length - 1] = (log[log.length - 1] as number) + cost
      else log.push(departMs, cost)
    }
    cells[at + 2] = (cells[at + 2] as number) + cost
  }

  restart(cells: Float64Array, at: number, atMs: number): void {
    // As if what is unused, all but one request, had been used evenly: one more comes free per share of the window.
    const missing = this.credit(cells, at, atMs) - 1
    const entries = pairs(this.save(cells, at))
    const part = Math.ceil(missing / mostParts)
    for (let used = 0; used < missing; ) {
      const cost = Math.min(part, missing - used)
      used += cost
      entries.push([atMs - this.windowMs + (used * this.windowMs) / (missing + 1), cost])
    }
    this.load(cells, at, entries.sort(([a], [b]) => a - b).flat())
  }

  recoveredAt(cells: Float64Array, at: number): number {
    const log = this.#logs[cells[at] as number]
    return log === undefined ? Number.NEGATIVE_INFINITY : (log[log.length - 2] as number) + this.windowMs
  }

  credit(cells: Float64Array, at: number, nowMs: number): number {
    const counting = pairs(this.save(cells, at)).filter(([departMs]) => departMs + this.windowMs > nowMs)
    const used = counting.reduce((sum, [, cost]) => sum + cost, 0)
    return Math.max(0, this.limit - used)
  }

  override save(cells: Float64Array, at: number): number[] {
    return this.#logs[cells[at] as number]?.slice(cells[at + 1] as number) ?? []
  }

  override load(cells: Float64Array, at: number, saved: readonly number[]): void {
    this.release(cells, at)
    if (saved.length === 0) return
    cells[at] = this.#keep(saved.slice())
    for (let cost = 1; cost < saved.length; cost += 2)
      cells[at + 2] = (cells[at + 2] as number) + (saved[cost] as number)
  }

  override release(cells: Float64Array, at: number): void {
    const number = cells[at] as number
    if (number !== 0) {
      this.#logs[number] = undefined
      this.#freeNumbers.push(number)
    }
    this.reset(cells, at)
  }

  override isStrict(_cells: Float64Array, _at: number, lateMs: number): boolean {
    return this.windowMs < 4 * lateMs
  }

  describe(): { limit: number; windowMs: number } {
    return { limit: this.limit, windowMs: this.windowMs }
  }

  #keep(log: Log): number {
    const number = this.#freeNumbers.pop() ?? this.#logs.length
    this.#logs[number] = log
    return number
  }

  /** Nothing in the log counts any more: its first entry is written over, so that a host met now and then needs no more room. */
  #startAnew(log: Log, cells: Float64Array, at: number, departMs: number, cost: number): void {
    if (log.length > 2) log.length = 2
    log[0] = departMs
    log[1] = cost
    cells[at + 1] = 0
    cells[at + 2] = 0
  }

  /** Forgets what no longer counts at `departMs`. */
  #dropBefore(log: Log, cells: Float64Array, at: number, departMs: number): void {
    let entry = cells[at + 1] as number
    while (entry < log.length && (log[entry] as number) + this.windowMs <= departMs) {
      cells[at + 2] = (cells[at + 2] as number) - (log[entry + 1] as number)
      entry += 2
    }
    // Moving the rest up costs as much as what is dropped, so it is done when that is half of the list.
    if (entry * 2 >= log.length) {
      log.splice(0, entry)
      entry = 0
    }
    cells[at + 1] = entry
  }
}

function pairs(log: Log): [departMs: number, cost: number][] {
  return Array.from({ length: log.length / 2 }, (_, pair) => [log[2 * pair] as number, log[2 * pair + 1] as number])
}
