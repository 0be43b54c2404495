import { showDuration } from '../durations.ts'
import { isPast, type Rule, type Span, type Stamp } from './rule.ts'

/**
 * No two requests closer than an interval.
 *
 * Each request is put at the earliest moment that its stamp and those before permit. One that would have to come later
 * than its stamp allows is too near to those before; from there on it counts as where its stamp puts it, so that
 * whoever keeps to the interval again is reported no more.
 */
export class IntervalRule implements Rule {
  readonly text: string
  worst: Span | undefined
  readonly #intervalMs: number
  readonly #resolutionMs: number
  #last: Stamp | undefined
  /** The first of those that follow one another at the interval or faster, and the number of those. */
  #run: { first: Stamp; count: number } | undefined
  #freeAtMs = Number.NEGATIVE_INFINITY

  constructor(intervalMs: number, resolutionMs: number) {
    this.text = `${showDuration(intervalMs)} between two requests`
    this.#intervalMs = intervalMs
    this.#resolutionMs = resolutionMs
  }

  take(stamp: Stamp): Span | undefined {
    const last = this.#last
    this.#last = stamp
    if (last !== undefined) this.#compare(last, stamp)
    if (this.#run === undefined || stamp.atMs >= this.#freeAtMs) this.#startAt(stamp)
    else this.#run.count++
    if (!isPast(this.#freeAtMs, stamp, this.#resolutionMs)) {
      this.#freeAtMs = Math.max(this.#freeAtMs, stamp.atMs) + this.#intervalMs
      return undefined
    }
    const { first, count } = this.#run as { first: Stamp; count: number }
    this.#startAt(stamp)
    this.#freeAtMs = stamp.atMs + this.#intervalMs
    const withinMs = stamp.atMs + this.#resolutionMs - first.atMs
    return { firstLine: first.line, lastLine: stamp.line, count, permitted: count - 1, withinMs }
  }

  #startAt(stamp: Stamp): void {
    this.#run = { first: stamp, count: 1 }
  }

  #compare(last: Stamp, stamp: Stamp): void {
    const withinMs = stamp.atMs + this.#resolutionMs - last.atMs
    if (this.worst !== undefined && withinMs >= this.worst.withinMs) return
    const permitted = withinMs > this.#intervalMs ? 2 : 1
    this.worst = { firstLine: last.line, lastLine: stamp.line, count: 2, permitted, withinMs }
  }
}
