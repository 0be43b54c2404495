import type { LayerName, WaitStats } from '@hostpace/core'

/** What the page shows of one host. */
export interface Row {
  readonly key: string
  readonly departures: number
  readonly queued: number
  readonly inFlight: number
  readonly refused: number
  readonly waits: Readonly<Partial<Record<LayerName, WaitStats>>>
  /**
   * When its hold ends, in milliseconds on the monitor's clock, rounded up to a second; 0 if there is none. What is left of it
   * would be another number with each update.
   */
  readonly heldUntilMs: number
  /** Why it is held, as far as is known. */
  readonly holdReason: string | undefined
  /** What was learned of the host. */
  readonly learned: string | undefined
}

/** One departure: of which host, how many milliseconds before the update, and what it had waited for. */
export type Departure = readonly [key: string, agoMs: number, layer: LayerName]

/** What a viewer is sent. */
export interface Update {
  /** Whether what was shown before is to be forgotten. */
  readonly isFirst: boolean
  /** The present, in milliseconds on the monitor's clock. */
  readonly atMs: number
  readonly total: Omit<Row, 'key' | 'heldUntilMs' | 'holdReason' | 'learned'>
  /** How many hosts there are, also those that the viewer is not told of. */
  readonly hosts: number
  /** The hosts that have changed. */
  readonly rows: readonly Row[]
  /** The hosts that are not shown any more. */
  readonly gone: readonly string[]
  readonly departures: readonly Departure[]
  /** How many departures were left out. */
  readonly more: number
}
