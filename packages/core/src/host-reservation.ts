import type { LayerName } from './layers/layer.ts'
import type { Reservation } from './reservation.ts'
import type { Slot } from './slot.ts'

/**
 * The reservation that a pacer gives out. It is of a class of its own, so that clients which copy the plain objects
 * among their options hand it on as it is.
 */
export class HostReservation implements Reservation {
  readonly waitMs: number
  readonly departAtMs: number
  readonly layer: LayerName
  /** @internal Who gave it. */
  readonly desk: object
  /** @internal */
  readonly host: number
  /** @internal */
  readonly slot: Slot
  readonly #giveBack: () => void
  #isSpent = false

  constructor(
    desk: object,
    host: number,
    slot: Slot,
    times: { waitMs: number; departAtMs: number; layer: LayerName },
    giveBack: () => void,
  ) {
    this.desk = desk
    this.host = host
    this.slot = slot
    this.waitMs = times.waitMs
    this.departAtMs = times.departAtMs
    this.layer = times.layer
    this.#giveBack = giveBack
  }

  cancel(): void {
    if (this.claim()) this.#giveBack()
  }

  /** Takes the slot over. @returns whether nobody has used or given it back before */
  claim(): boolean {
    const isFresh = !this.#isSpent
    this.#isSpent = true
    return isFresh
  }
}
