import { machineMs } from '../soak/machine-clock.ts'

const everyMs = 5

/** How late this process comes to things at the most: what it stamps or sends may be off by so much. */
export class LagMeter {
  #worstMs = 0
  #lastMs = machineMs()
  readonly #timer = setInterval(() => {
    const nowMs = machineMs()
    this.#worstMs = Math.max(this.#worstMs, nowMs - this.#lastMs - everyMs)
    this.#lastMs = nowMs
  }, everyMs)

  /** Ends the measurement. @returns the worst lag in milliseconds */
  end(): number {
    clearInterval(this.#timer)
    return this.#worstMs
  }
}
