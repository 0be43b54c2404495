import { aFunction, anyObject, show } from './checks.ts'
import { PolicyError } from './errors.ts'

/**
 * Where a pacer gets the time from and what wakes it.
 *
 * `now` must be monotonic: it never goes back when somebody sets the wall clock.
 */
export interface Clock {
  /** Milliseconds, fractions allowed, since any fixed moment. */
  now(): number

  /** The wall clock in milliseconds since 1970, only used to read dates in headers. Default `Date.now()`. */
  wallNow?(): number

  /** Calls `callback` once after about `delayMs`, and keeps the process alive until then. Default `setTimeout`. */
  setTimer?(callback: () => void, delayMs: number): unknown

  /** Forgets a timer. Default `clearTimeout`. */
  clearTimer?(timer: unknown): void
}

/**
 * The clock of this process: `performance.now()` and `setTimeout`.
 *
 * The globals are read at every call, so that fake timers take effect whenever they are installed.
 */
export const systemClock: Required<Clock> = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  setTimer: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimer: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
}

/**
 * Refuses what is no clock.
 *
 * @param path what to call it in an error
 * @throws {PolicyError} that names what is missing or wrong
 */
export function checkClock(clock: Clock, path: string): void {
  if (clock === systemClock) return
  anyObject(clock, path)
  aFunction(clock.now, `${path}.now`)
  for (const name of ['wallNow', 'setTimer', 'clearTimer'] as const) {
    if (clock[name] !== undefined) aFunction(clock[name], `${path}.${name}`)
  }
  const now: unknown = clock.now()
  if (!Number.isFinite(now)) throw new PolicyError(`${path}.now`, `must give a finite number, gave ${show(now)}`)
}

/** Fills in what a clock leaves to the system. */
export function completeClock(clock: Clock | undefined): Required<Clock> {
  if (clock === undefined || clock === systemClock) return systemClock
  return {
    now: () => clock.now(),
    wallNow: clock.wallNow === undefined ? systemClock.wallNow : () => clock.wallNow?.() ?? Date.now(),
    setTimer: (callback, delayMs) => (clock.setTimer ?? systemClock.setTimer).call(clock, callback, delayMs),
    clearTimer: (timer) => (clock.clearTimer ?? systemClock.clearTimer).call(clock, timer),
  }
}
