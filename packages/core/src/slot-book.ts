import { Forecast, timeOf } from './forecast.ts'
import type { LayerStack } from './layer-stack.ts'
import { type LayerName, nanosecondMs } from './layers/layer.ts'
import type { Slot } from './slot.ts'

/**
 * What one host has promised and not yet seen happen: slots ahead, requests that are about to be
 * written, and a pause.
 *
 * The credit in the cells knows only of departures that have happened (or that can no longer be taken
 * back). What is promised stands here, so giving a slot back is nothing but striking it out.
 */
export class SlotBook {
  /** In the order of their times. */
  readonly #slots: Slot[] = []
  readonly #claimableMs: number
  #pausedUntilMs = Number.NEGATIVE_INFINITY

  /** @param claimableMs how long after its time somebody may still come for a slot that is not held */
  constructor(claimableMs = 0) {
    this.#claimableMs = claimableMs
  }

  /** Whether there is nothing to remember. */
  get isEmpty(): boolean {
    return this.#slots.length === 0 && !this.isPaused
  }

  get isPaused(): boolean {
    return this.#pausedUntilMs !== Number.NEGATIVE_INFINITY
  }

  /** The end of the pause, `-Infinity` if there is none. */
  get pausedUntilMs(): number {
    return this.#pausedUntilMs
  }

  /** Holds the host until `untilMs`, in place of the pause before. */
  pause(untilMs: number): void {
    this.#pausedUntilMs = untilMs
  }

  /**
   * A forecast of what may depart among the promised ones.
   *
   * @param fromMs nothing departs before this, because of those in front, who wait for `fromLayer`
   */
  forecast(
    stack: LayerStack,
    cells: Float64Array,
    at: number,
    nowMs: number,
    fromMs: number = nowMs,
    fromLayer: LayerName = 'none',
  ): Forecast {
    this.settle(stack, cells, at, nowMs)
    const copy = stack.fork(cells, at)
    if (this.isPaused) stack.restart(copy, 0, this.#pausedUntilMs)
    return this.#pausedUntilMs > fromMs
      ? new Forecast(stack, copy, this.#slots, nowMs, this.#pausedUntilMs, 'pause')
      : new Forecast(stack, copy, this.#slots, nowMs, fromMs, fromLayer)
  }

  /** The earliest departure, and the layer that asked for the wait; takes nothing. */
  earliest(
    stack: LayerStack,
    cells: Float64Array,
    at: number,
    nowMs: number,
    cost: number,
    fromMs?: number,
    fromLayer?: LayerName,
  ): { departMs: number; layer: LayerName } {
    const forecast = this.forecast(stack, cells, at, nowMs, fromMs, fromLayer)
    const departMs = forecast.find(cost)
    forecast.end()
    return { departMs, layer: forecast.binding }
  }

  /** Promises a slot. */
  add(slot: Slot): void {
    let place = this.#slots.length
    while (place > 0 && (this.#slots[place - 1] as Slot).departAtMs > slot.departAtMs) place--
    this.#slots.splice(place, 0, slot)
  }

  /** Strikes a slot out. @returns whether it stood here */
  remove(slot: Slot): boolean {
    const place = this.#slots.indexOf(slot)
    if (place < 0) return false
    this.#slots.splice(place, 1)
    return true
  }

  /** Strikes a slot out unless its time is over, when it counts as used. @returns whether it was given back */
  giveBack(slot: Slot, nowMs: number): boolean {
    return (slot.held || slot.departAtMs >= nowMs) && this.remove(slot)
  }

  /** A departure happens now. While there are slots before it that somebody may come for, it waits its turn here. */
  depart(stack: LayerStack, cells: Float64Array, at: number, nowMs: number, cost: number): void {
    if (this.#slots.some((slot) => !slot.held && slot.departAtMs < nowMs)) {
      this.add({ departAtMs: nowMs, layer: 'none', cost, held: false })
    } else {
      stack.charge(cells, at, nowMs, cost)
    }
  }

  /**
   * A slot whose time has come departs a little late: whether it may, with all that has happened by now. If
   * so, those promised for later make room, each by as much as the layers ask for.
   */
  makeRoom(stack: LayerStack, cells: Float64Array, at: number, nowMs: number, cost: number): boolean {
    this.settle(stack, cells, at, nowMs)
    if (this.isPaused) return false
    const copy = stack.fork(cells, at)
    const later = this.#slots.filter((slot) => {
      const timeMs = timeOf(slot, nowMs)
      if (timeMs <= nowMs) stack.charge(copy, 0, timeMs, slot.cost)
      return timeMs > nowMs
    })
    const permitted = stack.earliest(copy, 0, nowMs, cost) <= nowMs
    if (permitted) {
      stack.charge(copy, 0, nowMs, cost)
      for (const slot of later) {
        slot.departAtMs = stack.earliest(copy, 0, slot.departAtMs, slot.cost)
        stack.charge(copy, 0, slot.departAtMs, slot.cost)
      }
    }
    stack.release(copy, 0)
    return permitted
  }

  /** Moves into the credit what has happened by now, in order: slots whose time is over, and the end of a pause. */
  settle(stack: LayerStack, cells: Float64Array, at: number, nowMs: number): void {
    const pauseEnds = this.isPaused && this.#pausedUntilMs <= nowMs
    const overBeforeMs = pauseEnds ? nowMs : nowMs - this.#claimableMs
    let kept = 0
    for (const slot of this.#slots) {
      if (slot.held || slot.departAtMs >= overBeforeMs) {
        this.#slots[kept++] = slot
      } else {
        this.#endPause(stack, cells, at, slot.departAtMs)
        stack.charge(cells, at, slot.departAtMs, slot.cost)
      }
    }
    this.#slots.length = kept
    this.#endPause(stack, cells, at, nowMs)
  }

  /** After a pause a host restarts gently. */
  #endPause(stack: LayerStack, cells: Float64Array, at: number, byMs: number): void {
    if (!this.isPaused || this.#pausedUntilMs > byMs) return
    stack.restart(cells, at, this.#pausedUntilMs)
    this.#pausedUntilMs = Number.NEGATIVE_INFINITY
  }
}

/** Whether the time of a slot has come. */
export function isDue(slot: Slot, nowMs: number): boolean {
  return slot.departAtMs <= nowMs + nanosecondMs
}
