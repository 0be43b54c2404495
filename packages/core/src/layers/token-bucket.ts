import { atLeastOne } from '../checks.ts'
import { msPerRequest, type Rate } from '../rate.ts'
import { Layer, type LayerName, type LayerOptions, nanosecondMs } from './layer.ts'

export interface TokenBucketOptions extends LayerOptions {
  /** How many requests in the long run, e.g. `'10r/s'`; above 0. */
  rate: Rate
  /** How many may leave at once after a rest, at least 1. @default one second of `rate`, at least 1 */
  capacity?: number
}

/**
 * Lets short bursts through while holding the long-run rate. For "10 requests a second, short spikes
 * are fine".
 *
 * The bucket starts full and refills continuously, by fractions of a token. Over any `w` milliseconds
 * at most `capacity + rate * w / 1000` requests leave. A clock that steps back never adds tokens.
 *
 * Its whole state is the moment at which it will be full again: `fullAt - now` milliseconds of refill
 * are missing. This is the theoretical arrival time of the generic cell rate algorithm (ITU-T I.371).
 *
 * @throws {PolicyError} if `rate` is not a rate above 0 or `capacity` is not a finite number of 1 or more
 */
export class TokenBucket extends Layer {
  readonly name: LayerName = 'burst'
  readonly rule = 'TokenBucket'
  readonly size = 1
  readonly maxCost: number
  readonly capacity: number
  readonly #msPerToken: number

  constructor(options: TokenBucketOptions) {
    super(options)
    this.#msPerToken = msPerRequest(options.rate)
    this.capacity =
      options.capacity === undefined ? Math.max(1, 1000 / this.#msPerToken) : atLeastOne(options.capacity, 'capacity')
    this.maxCost = Math.floor(this.capacity)
  }

  reset(cells: Float64Array, at: number): void {
    cells[at] = Number.NEGATIVE_INFINITY
  }

  earliest(cells: Float64Array, at: number, nowMs: number, cost: number): number {
    // `cost` tokens are there once no more than `capacity - cost` of them are missing.
    const enoughAtMs = (cells[at] as number) - (this.capacity - cost) * this.#msPerToken
    return enoughAtMs > nowMs + nanosecondMs ? enoughAtMs : nowMs
  }

  charge(cells: Float64Array, at: number, departMs: number, cost: number): void {
    const fullAtMs = cells[at] as number
    cells[at] = Math.max(fullAtMs, departMs) + cost * this.#msPerToken
  }

  restart(cells: Float64Array, at: number, atMs: number): void {
    cells[at] = Math.max(cells[at] as number, atMs + (this.capacity - 1) * this.#msPerToken)
  }

  recoveredAt(cells: Float64Array, at: number): number {
    return cells[at] as number
  }

  credit(cells: Float64Array, at: number, nowMs: number): number {
    const missingMs = Math.max(0, (cells[at] as number) - nowMs)
    return Math.max(0, this.capacity - missingMs / this.#msPerToken)
  }

  override isStrict(): boolean {
    // With room for another token, those who come late lose nothing and take nothing from the next.
    return this.capacity < 2
  }

  override adopt(cells: Float64Array, at: number, former: Layer, saved: readonly number[], nowMs: number): void {
    // The tokens that were missing still are: what has left does not come back with another rate.
    const missing = Math.max(0, (saved[0] as number) - nowMs) / (former as TokenBucket).#msPerToken
    cells[at] = missing > 0 ? nowMs + missing * this.#msPerToken : Number.NEGATIVE_INFINITY
  }

  describe(): { ratePerSecond: number; capacity: number } {
    return { ratePerSecond: 1000 / this.#msPerToken, capacity: this.capacity }
  }
}
