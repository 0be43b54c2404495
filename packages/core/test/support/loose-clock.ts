import { ManualClock } from '@hostpace/core/testing'

/** A clock whose timers do not fire when they should: `offMs` later, or earlier if it is negative. */
export class LooseClock extends ManualClock {
  offMs: number
  /** Every delay that was asked for. */
  readonly delays: number[] = []

  constructor(offMs = 0) {
    super()
    this.offMs = offMs
  }

  override setTimer(callback: () => void, delayMs: number): unknown {
    this.delays.push(delayMs)
    return super.setTimer(callback, Math.max(0, delayMs + this.offMs))
  }
}
