import type { LayerName } from './layers/layer.ts'

/** A departure time that has been promised to somebody, or a departure that is not on the wire yet. */
export interface Slot {
  /** When it departs, on the clock of the store. */
  departAtMs: number
  /** Which layer asked for the wait. */
  layer: LayerName
  /** Which in the order of arrivals the one is for whom it is: those who came later make room for it. */
  readonly order: number
  /** How many requests it counts as. */
  readonly cost: number
  /**
   * Whether somebody will say when it really departs. Until then, once its time has come, it counts
   * as one that leaves just now. A slot that is not held counts as used at its time.
   */
  held: boolean
  /** In a store that several processes share: for which of them it is. Orders of different ones say nothing of each other. */
  readonly worker?: string
}
