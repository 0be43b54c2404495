import { oneOf, plainFields, positiveNumber } from '../checks.ts'
import { type Clock, checkClock, completeClock } from '../clock.ts'

/** Options of every store that processes share. */
export interface SharedStoreOptions {
  /** Milliseconds, above 0: a ledger that has not answered by then counts as one that failed. @default 250 */
  readonly timeoutMs?: number
  /** Milliseconds, above 0: how long permits and slots of a process that died stay taken. @default 30000 */
  readonly leaseMs?: number
  /**
   * Milliseconds, above 0: slots this far ahead are promised together with the first one to those who wait behind it, where a
   * late departure takes nothing from the next (a burst of 2 or more; windows of 4 horizons or more). @default 100
   */
  readonly horizonMs?: number
  /**
   * What happens while the shared state cannot be reached: `'local'` paces in this process, by its share of the declared limits
   * (as many processes as were seen last share them); `'wait'` lets nothing go until it can be reached again; `'throw'` rejects with `StoreError`. @default 'local'
   */
  readonly onStoreError?: 'local' | 'wait' | 'throw'
  /** Where the time of this process comes from. @default that of the system */
  readonly clock?: Clock
}

/** The options of a shared store, filled in. */
export interface SharedSettings {
  readonly timeoutMs: number
  readonly leaseMs: number
  readonly horizonMs: number
  readonly onStoreError: 'local' | 'wait' | 'throw'
  readonly clock: Required<Clock>
}

const fields = ['timeoutMs', 'leaseMs', 'horizonMs', 'onStoreError', 'clock'] as const

/**
 * Checks the options of a shared store and fills in the defaults.
 *
 * @param own the names of what a store takes beside these, which it checks itself
 * @throws {PolicyError} that names the option that makes no sense
 */
export function sharedSettings(options: SharedStoreOptions, own: readonly string[] = []): SharedSettings {
  const path = 'options'
  const {
    timeoutMs = 250,
    leaseMs = 30_000,
    horizonMs = 100,
    onStoreError = 'local',
    clock,
  } = plainFields(options, [...own, ...fields], path) as SharedStoreOptions
  if (clock !== undefined) checkClock(clock, `${path}.clock`)
  return {
    timeoutMs: positiveNumber(timeoutMs, `${path}.timeoutMs`),
    leaseMs: positiveNumber(leaseMs, `${path}.leaseMs`),
    horizonMs: positiveNumber(horizonMs, `${path}.horizonMs`),
    onStoreError: oneOf(onStoreError, ['local', 'wait', 'throw'], `${path}.onStoreError`),
    clock: completeClock(clock),
  }
}
