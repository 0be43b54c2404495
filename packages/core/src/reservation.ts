import type { LayerName } from './layers/layer.ts'

/** A departure time that has been promised. */
export interface Reservation {
  /** Milliseconds until the request may leave; 0 = now. */
  readonly waitMs: number
  /** When the request may leave, on the limiter's clock. */
  readonly departAtMs: number
  /** Which layer asked for the wait; `'none'` if there is none. */
  readonly layer: LayerName

  /**
   * Gives the slot back; the next caller gets it. Once `departAtMs` has gone by the slot counts as
   * used, and cancelling does nothing. Safe to call twice.
   */
  cancel(): void
}
