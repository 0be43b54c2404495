import type { Clock } from '../clock.ts'

interface ManualTimer {
  readonly dueMs: number
  readonly callback: () => void
}

export interface ManualClockOptions {
  /** What `now()` starts at, in milliseconds. @default 0 */
  nowMs?: number
  /** What the wall clock starts at, in milliseconds since 1970. @default 0 */
  wallMs?: number
}

/**
 * A clock that moves only when told to, for tests that never sleep.
 *
 * ```ts
 * const clock = new ManualClock()
 * const pacer = createPacer({ intervalMs: 2000, clock })
 * await pacer.wait('https://a.example/')
 * const second = pacer.wait('https://a.example/')
 * await clock.advanceAsync(2000)
 * await second
 * ```
 */
export class ManualClock implements Required<Clock> {
  #nowMs: number
  #wallMs: number
  /** Sorted by the time they are due, then by the order in which they were set. */
  readonly #timers: ManualTimer[] = []

  constructor({ nowMs = 0, wallMs = 0 }: ManualClockOptions = {}) {
    this.#nowMs = nowMs
    this.#wallMs = wallMs
  }

  /** How many timers are set. */
  get timers(): number {
    return this.#timers.length
  }

  now(): number {
    return this.#nowMs
  }

  wallNow(): number {
    return this.#wallMs
  }

  /** Sets the wall clock apart from the monotonic one, as an operator or NTP would. */
  stepWall(byMs: number): void {
    this.#wallMs += byMs
  }

  setTimer(callback: () => void, delayMs: number): unknown {
    const timer: ManualTimer = { dueMs: this.#nowMs + Math.max(0, delayMs), callback }
    let place = this.#timers.length
    while (place > 0 && (this.#timers[place - 1] as ManualTimer).dueMs > timer.dueMs) place--
    this.#timers.splice(place, 0, timer)
    return timer
  }

  clearTimer(timer: unknown): void {
    const place = this.#timers.indexOf(timer as ManualTimer)
    if (place >= 0) this.#timers.splice(place, 1)
  }

  /** Moves both clocks on and fires what falls due on the way, each timer at its own time. */
  advance(ms: number): void {
    const endMs = this.#nowMs + ms
    while (this.#fireNext(endMs)) {
      // Each turn fires one timer, which may set others.
    }
    this.#moveTo(endMs)
  }

  /** As `advance`, but lets promises settle before, between and after the timers. */
  async advanceAsync(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms
    await settle()
    while (this.#fireNext(endMs)) await settle()
    this.#moveTo(endMs)
    await settle()
  }

  #fireNext(endMs: number): boolean {
    const next = this.#timers[0]
    if (next === undefined || next.dueMs > endMs) return false
    this.#timers.shift()
    this.#moveTo(next.dueMs)
    next.callback()
    return true
  }

  #moveTo(ms: number): void {
    const stepMs = Math.max(0, ms - this.#nowMs)
    this.#wallMs += stepMs
    this.#nowMs += stepMs
  }
}

/** Long enough for chains of promises; a macrotask of the host would do, but fake timers may hold those. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await undefined
}
