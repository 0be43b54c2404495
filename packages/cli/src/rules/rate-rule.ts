import { parseRate, type Rate } from '@hostpace/core'
import { rounded } from '../durations.ts'
import { isPast, type Rule, type Span, type Stamp } from './rule.ts'

/**
 * At most `capacity + rate * w` requests in any `w`, as a token bucket has it.
 *
 * A request is too many if some span that ends with it has more. The bucket is full again at the latest of
 * `start + count * (time of a token)` over all spans that end now, so one number tells of all of them.
 */
export class RateRule implements Rule {
  readonly text: string
  worst: Span | undefined
  readonly #capacity: number
  readonly #msPerToken: number
  readonly #resolutionMs: number
  #fullAtMs = Number.NEGATIVE_INFINITY
  /** Where the span starts that decides, and how many requests it has. */
  #first: Stamp | undefined
  #count = 0
  #worstExcess = Number.NEGATIVE_INFINITY

  constructor(rate: Rate, capacity: number | undefined, resolutionMs: number) {
    const perSecond = parseRate(rate)
    this.#capacity = capacity ?? Math.max(1, perSecond)
    this.#msPerToken = 1000 / perSecond
    this.#resolutionMs = resolutionMs
    this.text = `${typeof rate === 'number' ? `${rate}r/s` : rate}, ${rounded(this.#capacity)} at once`
  }

  take(stamp: Stamp): Span | undefined {
    if (this.#first === undefined || stamp.atMs >= this.#fullAtMs) {
      this.#first = stamp
      this.#count = 0
      this.#fullAtMs = stamp.atMs
    }
    this.#fullAtMs += this.#msPerToken
    this.#count++
    const span = this.#spanTo(stamp, this.#first)
    // `capacity` tokens may be missing and no more; the request comes once they are no more than that.
    const isTooMany = isPast(this.#fullAtMs - this.#capacity * this.#msPerToken, stamp, this.#resolutionMs)
    return isTooMany ? span : undefined
  }

  #spanTo(last: Stamp, first: Stamp): Span {
    const withinMs = last.atMs + this.#resolutionMs - first.atMs
    const most = this.#capacity + withinMs / this.#msPerToken
    // In less than `withinMs` not all of a token that is there exactly at its end.
    const permitted = Math.ceil(most - 1e-9) - 1
    const span = { firstLine: first.line, lastLine: last.line, count: this.#count, permitted, withinMs }
    if (this.#count - most > this.#worstExcess) {
      this.#worstExcess = this.#count - most
      this.worst = span
    }
    return span
  }
}
