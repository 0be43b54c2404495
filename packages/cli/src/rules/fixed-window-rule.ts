import { showDuration } from '../durations.ts'
import { nanosecondMs, type Rule, type Span, type Stamp } from './rule.ts'

/**
 * At most `limit` requests in each window that begins at a multiple of its length since 1970, UTC.
 *
 * A request whose stamp does not tell in which of two windows it came counts in neither.
 */
export class FixedWindowRule implements Rule {
  readonly text: string
  worst: Span | undefined
  readonly #limit: number
  readonly #windowMs: number
  readonly #resolutionMs: number
  readonly #startMs: number
  #window = Number.NEGATIVE_INFINITY
  #count = 0
  #firstLine = 0

  /** @param startMs from when stamps count, in milliseconds since 1970 */
  constructor(limit: number, windowMs: number, resolutionMs: number, startMs: number) {
    this.text = `${limit} in each ${showDuration(windowMs)} by the clock`
    this.#limit = limit
    this.#windowMs = windowMs
    this.#resolutionMs = resolutionMs
    this.#startMs = startMs
  }

  take({ atMs, line }: Stamp): Span | undefined {
    const fromMs = this.#startMs + atMs
    const window = Math.floor(fromMs / this.#windowMs)
    if (fromMs + this.#resolutionMs > (window + 1) * this.#windowMs + nanosecondMs) return undefined
    if (window !== this.#window) {
      this.#window = window
      this.#count = 0
      this.#firstLine = line
    }
    this.#count++
    const span = {
      ...{ firstLine: this.#firstLine, lastLine: line, count: this.#count },
      ...{ permitted: this.#limit, withinMs: this.#windowMs },
    }
    if (this.#count > (this.worst?.count ?? 0)) this.worst = span
    return this.#count > this.#limit ? span : undefined
  }
}
