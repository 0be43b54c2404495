import type { Clock } from '@hostpace/core'

/** Longer waits than this are skipped, all but the time in which servers forget. */
const longestMs = 5000
const leftMs = 1500

/** The clock of this process, but for holds of a minute and more, of which only the last moment is waited for. */
export class SkippingClock implements Clock {
  #skippedMs = 0

  now(): number {
    return performance.now() + this.#skippedMs
  }

  setTimer(callback: () => void, delayMs: number): unknown {
    if (delayMs <= longestMs) return setTimeout(callback, delayMs)
    return setTimeout(() => {
      this.#skippedMs += delayMs - leftMs
      callback()
    }, leftMs)
  }

  clearTimer(timer: unknown): void {
    clearTimeout(timer as NodeJS.Timeout)
  }
}
