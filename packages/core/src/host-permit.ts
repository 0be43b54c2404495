import type { LayerName } from './layers/layer.ts'
import { checkOutcome } from './outcome.ts'
import type { Outcome, Permit } from './permit.ts'
import type { Slot } from './slot.ts'

/** Who gave a permit and wants to know what becomes of it. */
export interface PermitIssuer {
  permitSent(permit: HostPermit): void
  permitObserved(permit: HostPermit, outcome: Outcome): void
  permitUnused(permit: HostPermit): void
  permitDone(permit: HostPermit): void
}

/** The permit that a pacer gives out. */
export class HostPermit implements Permit {
  readonly key: string
  readonly waitedMs: number
  readonly layer: LayerName
  /** @internal */
  readonly host: number
  /** @internal Which in the order of departures it is. */
  readonly index: number
  /** @internal The departure as the store has it, while it can still be moved. */
  readonly slot: Slot | undefined
  /** @internal */
  readonly cost: number
  /** @internal */
  readonly url: string | URL | undefined
  /** @internal */
  departedAtMs: number
  /** @internal The permit of the resource that the request is taken to be for; it shares what becomes of this one. */
  readonly lane: HostPermit | undefined
  readonly #issuer: PermitIssuer
  #isSent = false
  #isDone = false

  constructor(
    issuer: PermitIssuer,
    key: string,
    host: number,
    index: number,
    slot: Slot | undefined,
    cost: number,
    departedAtMs: number,
    waitedMs: number,
    layer: LayerName,
    url: string | URL | undefined,
    lane: HostPermit | undefined,
  ) {
    this.#issuer = issuer
    this.key = key
    this.host = host
    this.index = index
    this.slot = slot
    this.cost = cost
    this.url = url
    this.lane = lane
    this.departedAtMs = departedAtMs
    this.waitedMs = waitedMs
    this.layer = layer
  }

  sent(): void {
    if (!this.#isDone) this.#send()
  }

  observe(outcome: Outcome): void {
    checkOutcome(outcome)
    if (!this.#isDone) this.#issuer.permitObserved(this, outcome)
  }

  done(outcome?: Outcome): void {
    if (outcome !== undefined) checkOutcome(outcome)
    if (this.#isDone) return
    // First of all: those who hear of the outcome may call again.
    this.#isDone = true
    const hasOutcome = outcome !== undefined && (outcome.status !== undefined || outcome.error !== undefined)
    if (!this.#isSent && this.slot !== undefined) {
      // An answer or an error tells that the host was bothered, so the departure stands.
      if (hasOutcome) this.#send()
      else this.#issuer.permitUnused(this)
    }
    if (hasOutcome) this.#issuer.permitObserved(this, outcome)
    this.#issuer.permitDone(this)
    this.lane?.done()
  }

  #send(): void {
    if (this.#isSent) return
    this.#isSent = true
    this.lane?.sent()
    this.#issuer.permitSent(this)
  }
}
