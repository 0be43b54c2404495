import type { LayerStack } from './layer-stack.ts'
import type { LayerName } from './layers/layer.ts'
import type { Slot } from './slot.ts'

/**
 * Finds departures among those that are promised already, on a copy of a host's credit.
 *
 * A departure may go into a hole between two promised ones if every layer permits it and the promised
 * ones still hold after it. Within a hole the earliest moment is the best one: a departure that comes
 * later never leaves more credit to those after it. So one look per hole is exact.
 */
export class Forecast {
  /** Which layer asked for the wait that was last found. */
  binding: LayerName = 'none'

  readonly #stack: LayerStack
  readonly #cells: Float64Array
  /** The promised ones, in the order of their times. */
  readonly #slots: readonly Slot[]
  #floorLayer: LayerName = 'none'
  #upcoming = 0
  #floorMs: number
  #foundMs = 0
  readonly #nowMs: number

  /**
   * @param cells a copy of the credit, which the forecast uses up
   * @param slots what is promised
   */
  constructor(stack: LayerStack, cells: Float64Array, slots: readonly Slot[], nowMs: number) {
    this.#stack = stack
    this.#cells = cells
    this.#slots = inOrder(slots, nowMs)
    this.#nowMs = nowMs
    this.#floorMs = nowMs
  }

  /** The departure of the next request in line; those asked for later come after it. */
  next(cost: number): number {
    const departMs = this.find(cost)
    this.take(cost)
    return departMs
  }

  /** The departure that the next request in line would have. */
  find(cost: number): number {
    let bound: LayerName = this.#floorLayer
    for (;;) {
      const departMs = this.#stack.earliest(this.#cells, 0, this.#floorMs, cost)
      if (this.#stack.binding !== 'none') bound = this.#stack.binding
      const slot = this.#slots[this.#upcoming]
      if (slot === undefined || (departMs <= timeOf(slot, this.#nowMs) && this.#leavesRoom(departMs, cost))) {
        this.#foundMs = departMs
        this.binding = departMs > this.#nowMs ? bound : 'none'
        return departMs
      }
      this.#pass(slot)
    }
  }

  /** Lets the request depart that `find` was last asked for. */
  take(cost: number): void {
    this.#stack.charge(this.#cells, 0, this.#foundMs, cost)
    this.notBefore(this.#foundMs, this.binding)
  }

  /** Whoever comes next departs no earlier than `floorMs`, because of one in front who waits for `layer`. */
  notBefore(floorMs: number, layer: LayerName): void {
    if (floorMs <= this.#floorMs) return
    this.#floorMs = floorMs
    this.#floorLayer = layer
  }

  /** Ends the forecast and frees its copy of the credit. */
  end(): void {
    this.#stack.release(this.#cells, 0)
  }

  #pass(slot: Slot): void {
    const departMs = timeOf(slot, this.#nowMs)
    this.#stack.charge(this.#cells, 0, departMs, slot.cost)
    this.#floorMs = Math.max(this.#floorMs, departMs)
    this.#upcoming++
  }

  /** Whether the promised ones still hold if `cost` departs at `departMs`. */
  #leavesRoom(departMs: number, cost: number): boolean {
    const trial = this.#stack.fork(this.#cells, 0)
    this.#stack.charge(trial, 0, departMs, cost)
    const holds = this.#slots.every((slot, index) => {
      if (index < this.#upcoming) return true
      const timeMs = timeOf(slot, this.#nowMs)
      const permitted = this.#stack.earliest(trial, 0, timeMs, slot.cost) <= timeMs
      this.#stack.charge(trial, 0, timeMs, slot.cost)
      return permitted
    })
    this.#stack.release(trial, 0)
    return holds
  }
}

/** When a slot departs: one that is held and overdue leaves just now. */
export function timeOf(slot: Slot, nowMs: number): number {
  return slot.held ? Math.max(slot.departAtMs, nowMs) : slot.departAtMs
}

/** Those that are held and overdue come after those whose time is over. */
function inOrder(slots: readonly Slot[], nowMs: number): readonly Slot[] {
  return slots.length > 1 ? [...slots].sort((a, b) => timeOf(a, nowMs) - timeOf(b, nowMs)) : slots
}
