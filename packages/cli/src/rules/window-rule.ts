import { showDuration } from '../durations.ts'
import { NumberQueue } from './number-queue.ts'
import { isPast, type Rule, type Span, type Stamp } from './rule.ts'

/**
 * Never more than `limit` requests in any window, wherever it starts.
 *
 * It keeps the requests of one window, so memory grows with them and not with the log. As with an interval each request
 * is put at the earliest moment that its stamp and those before permit; that matters where windows are not much longer than
 * the stamps are coarse.
 */
export class WindowRule implements Rule {
  readonly text: string
  worst: Span | undefined
  readonly #limit: number
  readonly #windowMs: number
  readonly #resolutionMs: number
  /** The requests that are certainly within one window with the last one. */
  readonly #stamps = new NumberQueue()
  readonly #lines = new NumberQueue()
  /** Where the last `limit` requests were put, and on which line they stand. */
  readonly #placed = new NumberQueue()
  readonly #placedLines = new NumberQueue()

  constructor(limit: number, windowMs: number, resolutionMs: number) {
    this.text = `${limit} in any ${showDuration(windowMs)}`
    this.#limit = limit
    this.#windowMs = windowMs
    this.#resolutionMs = resolutionMs
  }

  take(stamp: Stamp): Span | undefined {
    this.#count(stamp)
    const isFull = this.#placed.length === this.#limit
    const freeAtMs = isFull ? this.#placed.at(0) + this.#windowMs : Number.NEGATIVE_INFINITY
    const isTooMany = isPast(freeAtMs, stamp, this.#resolutionMs)
    const span = isTooMany ? this.#span(stamp) : undefined
    if (isFull) {
      this.#placed.shift()
      this.#placedLines.shift()
    }
    this.#placed.push(isTooMany ? stamp.atMs : Math.max(stamp.atMs, freeAtMs))
    this.#placedLines.push(stamp.line)
    return span
  }

  #count(stamp: Stamp): void {
    this.#stamps.push(stamp.atMs)
    this.#lines.push(stamp.line)
    while (this.#stamps.length > 1 && stamp.atMs + this.#resolutionMs - this.#stamps.at(0) > this.#windowMs) {
      this.#stamps.shift()
      this.#lines.shift()
    }
    const count = this.#stamps.length
    if (count > (this.worst?.count ?? 0)) this.worst = this.#windowTo(stamp)
  }

  /** The window that ends with a request, or, if stamps are too coarse to count one, the last `limit` and it. */
  #span(stamp: Stamp): Span {
    if (this.#stamps.length > this.#limit) return this.#windowTo(stamp)
    const firstLine = this.#placedLines.at(0)
    const withinMs = this.#windowMs
    return { firstLine, lastLine: stamp.line, count: this.#limit + 1, permitted: this.#limit, withinMs }
  }

  #windowTo(stamp: Stamp): Span {
    const [firstLine, lastLine] = [this.#lines.at(0), stamp.line]
    return { firstLine, lastLine, count: this.#stamps.length, permitted: this.#limit, withinMs: this.#windowMs }
  }
}
