import { Forecast, timeOf } from './forecast.ts'
import type { LayerStack } from './layer-stack.ts'
import type { LayerName } from './layers/layer.ts'
import type { Slot } from './slot.ts'

/** Where somebody stands in the line of a host. */
export interface Place {
  /** As what number it came, among those of the same worker. */
  readonly order: number
  /**
   * What it was promised before, `Infinity` if nothing: those who were promised later times stay behind, so that one who comes
   * for its slot a little late, as all timers do, does not lose its place.
   */
  readonly departAtMs: number
  readonly worker?: string | undefined
}

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
  /** The time of the last departure that was moved into the credit. */
  #chargedMs = Number.NEGATIVE_INFINITY

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

  /** What is promised, in the order of the times. */
  get slots(): readonly Slot[] {
    return this.#slots
  }

  /** The time of the last departure that was moved into the credit: whatever is charged later comes no earlier. */
  get chargedMs(): number {
    return this.#chargedMs
  }

  /** The credit speaks of what was until `atMs`. */
  chargedUntil(atMs: number): void {
    if (atMs > this.#chargedMs) this.#chargedMs = atMs
  }

  /** Takes up where a book of before ended. */
  resume(slots: readonly Slot[], chargedMs: number): void {
    for (const slot of slots) this.add(slot)
    this.#chargedMs = chargedMs
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
    const forecast = this.#forecastAmong(this.#slots, stack, cells, at, nowMs)
    forecast.notBefore(fromMs, fromLayer)
    return forecast
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

  /** The departure of one who stands at `place`: what was promised to those behind makes room. Takes nothing. */
  turnOf(
    stack: LayerStack,
    cells: Float64Array,
    at: number,
    nowMs: number,
    cost: number,
    place: Place,
  ): { departMs: number; layer: LayerName } {
    const forecast = this.#forecastAhead(stack, cells, at, nowMs, place)
    const departMs = forecast.find(cost)
    forecast.end()
    return { departMs, layer: forecast.binding }
  }

  /** Moves what was promised to those behind `place` by as much as the departure that `turnOf` found asks for. */
  makeRoom(stack: LayerStack, cells: Float64Array, at: number, nowMs: number, cost: number, place: Place): void {
    const later = this.#slots.filter((slot) => makesRoom(slot, place, nowMs))
    if (later.length === 0) return
    const forecast = this.#forecastAhead(stack, cells, at, nowMs, place)
    forecast.next(cost)
    for (const slot of later) {
      forecast.notBefore(slot.departAtMs, slot.layer)
      slot.departAtMs = forecast.next(slot.cost)
    }
    forecast.end()
    this.#slots.sort((a, b) => a.departAtMs - b.departAtMs)
  }

  /** Promises a slot. */
  add(slot: Slot): void {
    let place = this.#slots.length
    while (place > 0 && (this.#slots[place - 1] as Slot).departAtMs > slot.departAtMs) place--
    if (place === this.#slots.length) this.#slots.push(slot)
    else this.#slots.splice(place, 0, slot)
  }

  /** Strikes a slot out. @returns whether it stood here */
  remove(slot: Slot): boolean {
    const place = this.#slots.indexOf(slot)
    if (place < 0) return false
    if (place === this.#slots.length - 1) this.#slots.pop()
    else this.#slots.splice(place, 1)
    return true
  }

  /** Strikes a slot out unless its time is over, when it counts as used. @returns whether it was given back */
  giveBack(slot: Slot, nowMs: number): boolean {
    return (slot.held || slot.departAtMs >= nowMs) && this.remove(slot)
  }

  /** A departure happens now. While there are slots before it that somebody may come for, it waits its turn here. */
  depart(stack: LayerStack, cells: Float64Array, at: number, nowMs: number, cost: number): void {
    if (this.#slots.some((slot) => !slot.held && slot.departAtMs < nowMs)) {
      this.add({ departAtMs: nowMs, order: Number.NEGATIVE_INFINITY, layer: 'none', cost, held: false })
    } else {
      this.#charge(stack, cells, at, nowMs, cost)
    }
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
        this.#charge(stack, cells, at, slot.departAtMs, slot.cost)
      }
    }
    this.#slots.length = kept
    this.#endPause(stack, cells, at, nowMs)
  }

  #charge(stack: LayerStack, cells: Float64Array, at: number, departMs: number, cost: number): void {
    stack.charge(cells, at, departMs, cost)
    this.chargedUntil(departMs)
  }

  #forecastAhead(stack: LayerStack, cells: Float64Array, at: number, nowMs: number, place: Place): Forecast {
    this.settle(stack, cells, at, nowMs)
    const ahead = this.#slots.filter((slot) => !makesRoom(slot, place, nowMs))
    return this.#forecastAmong(ahead, stack, cells, at, nowMs)
  }

  #forecastAmong(slots: readonly Slot[], stack: LayerStack, cells: Float64Array, at: number, nowMs: number): Forecast {
    const copy = stack.fork(cells, at)
    if (!this.isPaused) return new Forecast(stack, copy, slots, nowMs)
    // What is over before the pause ends is charged before the host restarts, as when it is settled.
    const isOver = (slot: Slot) => !slot.held && slot.departAtMs < this.#pausedUntilMs
    for (const slot of slots) if (isOver(slot)) stack.charge(copy, 0, slot.departAtMs, slot.cost)
    stack.restart(copy, 0, this.#pausedUntilMs)
    const ahead = slots.filter((slot) => !isOver(slot))
    const forecast = new Forecast(stack, copy, ahead, nowMs)
    forecast.notBefore(this.#pausedUntilMs, 'pause')
    return forecast
  }

  /** After a pause a host restarts gently. */
  #endPause(stack: LayerStack, cells: Float64Array, at: number, byMs: number): void {
    if (!this.isPaused || this.#pausedUntilMs > byMs) return
    stack.restart(cells, at, this.#pausedUntilMs)
    this.chargedUntil(this.#pausedUntilMs)
    this.#pausedUntilMs = Number.NEGATIVE_INFINITY
  }
}

/** Whether a slot is for one who stands behind, and is still ahead. */
function makesRoom(slot: Slot, { order, departAtMs, worker }: Place, nowMs: number): boolean {
  const isBehind = slot.departAtMs > departAtMs || (slot.order > order && slot.worker === worker)
  return isBehind && timeOf(slot, nowMs) > nowMs
}
