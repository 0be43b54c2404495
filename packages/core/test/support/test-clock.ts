import { ManualClock } from '@hostpace/core/testing'

/**
 * A manual clock that lets everything settle, however long its chain of promises, and whose timers can
 * be made to fire `offMs` too late, or too early if that is negative.
 */
export class TestClock extends ManualClock {
  /** Every delay that was asked for. */
  readonly delays: number[] = []
  readonly #offMs: number
  readonly #dueMs = new Map<unknown, number>()

  constructor(offMs = 0) {
    super()
    this.#offMs = offMs
  }

  override setTimer(callback: () => void, askedMs: number): unknown {
    this.delays.push(askedMs)
    const delayMs = Math.max(0, askedMs + this.#offMs)
    const timer = super.setTimer(() => {
      this.#dueMs.delete(timer)
      callback()
    }, delayMs)
    this.#dueMs.set(timer, this.now() + delayMs)
    return timer
  }

  override clearTimer(timer: unknown): void {
    this.#dueMs.delete(timer)
    super.clearTimer(timer)
  }

  /** Moves on to each timer in turn, and then to the end. */
  async pass(ms: number): Promise<void> {
    const endMs = this.now() + ms
    await this.settle()
    for (let nextMs = this.#nextMs(); nextMs <= endMs; nextMs = this.#nextMs()) {
      this.advance(nextMs - this.now())
      await this.settle()
    }
    this.advance(endMs - this.now())
    await this.settle()
  }

  protected settle(): Promise<void> {
    return settle()
  }

  #nextMs(): number {
    return Math.min(...this.#dueMs.values())
  }
}

/** All that promises have to do is done before an immediate. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
