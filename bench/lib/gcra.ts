/**
 * The least that a limiter can do: one token bucket as one number, for one host, that only counts. It is
 * the floor that the others are compared with.
 */
export class Gcra {
  readonly #msPerToken: number
  readonly #burstMs: number
  #fullAtMs = 0

  constructor(msPerToken: number, capacity: number) {
    this.#msPerToken = msPerToken
    this.#burstMs = capacity * msPerToken
  }

  /** @returns the milliseconds to wait */
  acquire(nowMs: number): number {
    const fullAtMs = Math.max(this.#fullAtMs, nowMs) + this.#msPerToken
    this.#fullAtMs = fullAtMs
    return Math.max(0, fullAtMs - this.#burstMs - nowMs)
  }
}
