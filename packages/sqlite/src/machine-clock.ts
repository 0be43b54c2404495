import { readFileSync } from 'node:fs'

/** The clocks of the machine. */
export interface MachineClock {
  /** Milliseconds that run on evenly, the same in all processes until the machine starts anew. */
  monotonicMs(): number
  /** Milliseconds since 1970, which somebody may set. */
  wallMs(): number
  /** Differs from one start of the machine to the next, where the system tells. */
  readonly boot: string
}

/** The clocks of this machine. */
export function machineClock(): MachineClock {
  return { monotonicMs: () => Number(process.hrtime.bigint()) / 1e6, wallMs: () => Date.now(), boot: bootId() }
}

/** What the file remembers of time. */
export interface ClockMark {
  readonly boot: string
  /** When it was made, on the monotonic clock, the wall clock and that of the file. */
  readonly monotonicMs: number
  readonly wallMs: number
  readonly fileMs: number
}

/** The time of a new file is the time of day in UTC, so that a fixed window of an hour begins with the hour. */
const dayMs = 86_400_000

/**
 * The time of the file: it runs as the monotonic clock does, on from where it was when the machine last stopped. How
 * long that was ago only the wall clock can tell; one that was set back tells nothing, and then no time has gone by.
 */
export function fileTime(mark: ClockMark | undefined, clock: MachineClock): ClockMark {
  const [monotonicMs, wallMs, { boot }] = [clock.monotonicMs(), clock.wallMs(), clock]
  const isSameRun = mark !== undefined && mark.boot === boot && mark.monotonicMs <= monotonicMs
  const passedMs = isSameRun ? monotonicMs - mark.monotonicMs : Math.max(0, wallMs - (mark?.wallMs ?? wallMs))
  return { boot, monotonicMs, wallMs, fileMs: (mark?.fileMs ?? wallMs % dayMs) + passedMs }
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return ''
  }
}
