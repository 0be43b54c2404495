import type { Learned } from '../learning/learned.ts'
import type { Layer } from './layer.ts'
import { LeakyBucket } from './leaky-bucket.ts'

/**
 * The gap between two requests that was learned from a host's answers, kept as a leaky bucket is. Unlike the
 * interval of that, it differs from host to host and changes with what is learned.
 *
 * Its state is the moment from which on the next request may depart, and the gap in milliseconds, 0 for none.
 */
export class AdaptiveGap extends LeakyBucket {
  override readonly rule = 'AdaptiveGap'
  override readonly size = 2
  readonly #startMs: number

  /** @param startMs the gap as long as nothing has been learned, 0 or more */
  constructor(startMs: number) {
    super({ intervalMs: 1, name: 'adaptive' })
    this.#startMs = startMs
  }

  override reset(cells: Float64Array, at: number): void {
    super.reset(cells, at)
    cells[at + 1] = this.#startMs
  }

  override charge(cells: Float64Array, at: number, departMs: number, cost: number): void {
    const freeAtMs = departMs + cost * (cells[at + 1] as number)
    if (freeAtMs > (cells[at] as number)) cells[at] = freeAtMs
  }

  override isStrict(cells: Float64Array, at: number): boolean {
    return (cells[at + 1] as number) > 0
  }

  override gapOf(saved: readonly number[]): number {
    return saved[1] as number
  }

  override adopt(cells: Float64Array, at: number, former: Layer, saved: readonly number[], _nowMs: number): void {
    const formerGapMs = (former as LeakyBucket).gapOf(saved)
    cells[at + 1] = former instanceof AdaptiveGap ? formerGapMs : this.#startMs
    cells[at] = (saved[0] as number) - formerGapMs + (cells[at + 1] as number)
  }

  override learn(cells: Float64Array, at: number, { gap }: Learned, _nowMs: number): void {
    const gapMs = gap?.gapMs ?? this.#startMs
    cells[at] = (cells[at] as number) - (cells[at + 1] as number) + gapMs
    cells[at + 1] = gapMs
  }

  override describe(): { intervalMs: number } {
    return { intervalMs: this.#startMs }
  }
}
