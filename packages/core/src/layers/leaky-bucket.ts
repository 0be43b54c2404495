import { positiveNumber, wholeNumber } from '../checks.ts'
import { QueueFullError } from '../errors.ts'
import { Layer, type LayerName, type LayerOptions } from './layer.ts'

export interface LeakyBucketOptions extends LayerOptions {
  /** Milliseconds from one departure to the next, above 0. */
  intervalMs: number
  /** How many may wait at the most, a whole number of 1 or more; one more overflows. @default no bound */
  capacity?: number
  /** Under which name its waits are explained. @default 'interval' */
  name?: LayerName
}

/**
 * One departure per interval, by slot reservation. For `Crawl-delay: 2` and every other statement
 * about the gap between two requests.
 *
 * Two departures are never closer than `intervalMs`, and idle time earns nothing: after an hour of
 * rest it is still one request per interval. A request of cost `n` takes `n` intervals. This is the
 * leaky bucket as a queue; with a `capacity` it is a queue of bounded length.
 *
 * Its state is the moment from which on the next request may depart.
 *
 * @throws {PolicyError} if `intervalMs` is not a finite number above 0 or `capacity` not a whole number of 1 or more
 */
export class LeakyBucket extends Layer {
  readonly name: LayerName
  readonly rule: string = 'LeakyBucket'
  readonly size: number = 1
  readonly maxCost: number = Number.MAX_SAFE_INTEGER
  readonly intervalMs: number
  readonly #capacity: number

  constructor(options: LeakyBucketOptions) {
    super(options)
    this.name = options.name ?? 'interval'
    this.intervalMs = positiveNumber(options.intervalMs, 'intervalMs')
    this.#capacity =
      options.capacity === undefined ? Number.POSITIVE_INFINITY : wholeNumber(options.capacity, 'capacity')
  }

  reset(cells: Float64Array, at: number): void {
    cells[at] = Number.NEGATIVE_INFINITY
  }

  earliest(cells: Float64Array, at: number, nowMs: number, _cost: number): number {
    const freeAtMs = cells[at] as number
    return Math.max(freeAtMs, nowMs)
  }

  charge(cells: Float64Array, at: number, departMs: number, cost: number): void {
    const freeAtMs = departMs + cost * this.intervalMs
    if (freeAtMs > (cells[at] as number)) cells[at] = freeAtMs
  }

  restart(_cells: Float64Array, _at: number, _atMs: number): void {
    // It never lets more than one go.
  }

  recoveredAt(cells: Float64Array, at: number): number {
    return cells[at] as number
  }

  credit(cells: Float64Array, at: number, nowMs: number): number {
    return (cells[at] as number) > nowMs ? 0 : 1
  }

  /** Milliseconds from one departure to the next, by a state that was saved. */
  gapOf(_saved: readonly number[]): number {
    return this.intervalMs
  }

  override adopt(cells: Float64Array, at: number, former: Layer, saved: readonly number[], _nowMs: number): void {
    cells[at] = (saved[0] as number) - (former as LeakyBucket).gapOf(saved) + this.intervalMs
  }

  describe(): { intervalMs: number } {
    return { intervalMs: this.intervalMs }
  }

  /** @throws {QueueFullError} if `capacity` requests wait already */
  override acquire(cost = 1): number {
    this.#refuseOverflow()
    return super.acquire(cost)
  }

  /** @throws {QueueFullError} if `capacity` requests wait already */
  override earliestMs(cost = 1): number {
    this.#refuseOverflow()
    return super.earliestMs(cost)
  }

  #refuseOverflow(): void {
    // The one at the wire holds the interval that runs; every further interval is one that waits.
    const waiting = Math.ceil(super.earliestMs() / this.intervalMs) - 1
    if (waiting >= this.#capacity) throw new QueueFullError(this.#capacity)
  }
}
