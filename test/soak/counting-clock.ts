import type { Clock } from '@hostpace/core'

/** The clock of this process, which knows its timers: those that a pacer has not forgotten are left in `timers`. */
export class CountingClock implements Clock {
  readonly timers = new Set<NodeJS.Timeout>()

  now(): number {
    return performance.now()
  }

  setTimer(callback: () => void, delayMs: number): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.timers.delete(timer)
      callback()
    }, delayMs)
    this.timers.add(timer)
    return timer
  }

  clearTimer(timer: unknown): void {
    clearTimeout(timer as NodeJS.Timeout)
    this.timers.delete(timer as NodeJS.Timeout)
  }
}
