import { positiveNumber, wholeNumber } from '../checks.ts'
import { Layer, type LayerName } from './layer.ts'
import type { WindowOptions } from './sliding-window-log.ts'

/**
 * Counts per aligned window: at most `limit` between two multiples of `windowMs` on the clock.
 *
 * Around the edge of a window nearly twice the limit can leave in a short time: a full window at the
 * end of one and another at the start of the next. It is there for hosts that count this way and say
 * so, and never a default.
 *
 * The state is the number of the window last charged and its count.
 *
 * @throws {PolicyError} if `limit` is not a whole number of 1 or more, or `windowMs` not a finite number above 0
 */
export class FixedWindow extends Layer {
  readonly name: LayerName = 'quota'
  readonly rule = 'FixedWindow'
  readonly size = 2
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
  }

  earliest(cells: Float64Array, at: number, nowMs: number, cost: number): number {
    const charged = cells[at] as number
    const window = (cells[at + 1] as number) + cost <= this.limit ? charged : charged + 1
    return Math.max(nowMs, window * this.windowMs)
  }

  charge(cells: Float64Array, at: number, departMs: number, cost: number): void {
    const window = Math.floor(departMs / this.windowMs)
    if (window > (cells[at] as number)) {
      cells[at] = window
      cells[at + 1] = 0
    }
    cells[at + 1] = (cells[at + 1] as number) + cost
  }

  restart(cells: Float64Array, at: number, atMs: number): void {
    const used = this.limit - Math.min(1, this.credit(cells, at, atMs))
    cells[at] = Math.max(cells[at] as number, Math.floor(atMs / this.windowMs))
    cells[at + 1] = used
  }

  recoveredAt(cells: Float64Array, at: number): number {
    return ((cells[at] as number) + 1) * this.windowMs
  }

  credit(cells: Float64Array, at: number, nowMs: number): number {
    const used = Math.floor(nowMs / this.windowMs) > (cells[at] as number) ? 0 : (cells[at + 1] as number)
    return Math.max(0, this.limit - used)
  }

  override adopt(cells: Float64Array, at: number, former: Layer, saved: readonly number[], nowMs: number): void {
    this.reset(cells, at)
    const old = former as FixedWindow
    const used = old.limit - old.credit(Float64Array.from(saved), 0, nowMs)
    if (old.windowMs === this.windowMs) this.load(cells, at, saved)
    else if (used > 0) this.charge(cells, at, nowMs, used)
  }

  override isStrict(_cells: Float64Array, _at: number, lateMs: number): boolean {
    return this.windowMs < 4 * lateMs
  }

  describe(): { limit: number; windowMs: number } {
    return { limit: this.limit, windowMs: this.windowMs }
  }
}
