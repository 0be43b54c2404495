import { type Layer, type LayerName, nanosecondMs } from './layers/layer.ts'
import { LeakyBucket } from './layers/leaky-bucket.ts'
import type { Learned } from './learning/learned.ts'

/**
 * The layers of one policy, asked together: a departure needs the permission of all, and is charged
 * to all, at the moment of the departure.
 *
 * It holds no credit. As with a single layer, the state of a host is a run of numbers in `cells`.
 */
export class LayerStack {
  readonly layers: readonly Layer[]
  /** How many numbers of state a host needs. */
  readonly size: number
  /** The largest cost that every layer can ever permit. */
  readonly maxCost: number
  /** Which layer asked for the wait that `earliest` last found. */
  binding: LayerName = 'none'

  /** Where in the state of a host each layer has its own. */
  readonly #offsets: readonly number[]

  constructor(layers: readonly Layer[]) {
    this.layers = layers
    const offsets: number[] = []
    let size = 0
    for (const layer of layers) {
      offsets.push(size)
      size += layer.size
    }
    this.#offsets = offsets
    this.size = size
    this.maxCost = Math.min(Number.MAX_SAFE_INTEGER, ...layers.map((layer) => layer.maxCost))
  }

  /** The state of a host never asked. */
  fresh(): Float64Array {
    const cells = new Float64Array(this.size)
    this.reset(cells, 0)
    return cells
  }

  reset(cells: Float64Array, at: number): void {
    this.layers.forEach((layer, index) => {
      layer.reset(cells, at + (this.#offsets[index] as number))
    })
  }

  /** The earliest moment from `nowMs` on that every layer permits; `binding` tells which of them is the last to. */
  earliest(cells: Float64Array, at: number, nowMs: number, cost: number): number {
    const { layers } = this
    const offsets = this.#offsets
    let departMs = nowMs
    let binding: LayerName = 'none'
    for (let index = 0; index < layers.length; index++) {
      const layer = layers[index] as Layer
      const layerMs = layer.earliest(cells, at + (offsets[index] as number), nowMs, cost)
      if (layerMs > departMs) {
        departMs = layerMs
        binding = layer.name
      }
    }
    const isNow = departMs <= nowMs + nanosecondMs
    this.binding = isNow ? 'none' : binding
    return isNow ? nowMs : departMs
  }

  /** Charges a departure at `departMs` to every layer. */
  charge(cells: Float64Array, at: number, departMs: number, cost: number): void {
    const { layers } = this
    const offsets = this.#offsets
    for (let index = 0; index < layers.length; index++) {
      ;(layers[index] as Layer).charge(cells, at + (offsets[index] as number), departMs, cost)
    }
  }

  /** A departure that has been charged already was on the wire only at `sentMs`: the declared interval counts from there. */
  measureIntervalFrom(cells: Float64Array, at: number, sentMs: number, cost: number): void {
    this.layers.forEach((layer, index) => {
      if (layer instanceof LeakyBucket) layer.charge(cells, at + (this.#offsets[index] as number), sentMs, cost)
    })
  }

  /**
   * Lowers the credit so that from `atMs` on requests come one by one.
   *
   * Where an interval or a rate is declared or learned, that is how fast; a quota is spread over its window only
   * where nothing else says how fast to go.
   */
  restart(cells: Float64Array, at: number, atMs: number): void {
    const paced = this.layers.some(
      (layer, index) =>
        layer.name === 'burst' ||
        (layer.name !== 'quota' && layer.isStrict(cells, at + (this.#offsets[index] as number), 0)),
    )
    this.layers.forEach((layer, index) => {
      if (!paced || layer.name !== 'quota') layer.restart(cells, at + (this.#offsets[index] as number), atMs)
    })
  }

  /** From when on the state says no more than that of a host never asked. */
  recoveredAt(cells: Float64Array, at: number): number {
    return this.layers.reduce(
      (latest, layer, index) => Math.max(latest, layer.recoveredAt(cells, at + (this.#offsets[index] as number))),
      Number.NEGATIVE_INFINITY,
    )
  }

  /** Whether several departures may not be promised ahead to one whose timer may be up to `lateMs` late. */
  isStrict(cells: Float64Array, at: number, lateMs: number): boolean {
    return this.layers.some((layer, index) => layer.isStrict(cells, at + (this.#offsets[index] as number), lateMs))
  }

  /**
   * Charges one of many departures that several made at `departMs` or near it, each within its share: windows count them
   * all, and whatever spaces departures starts again from there.
   */
  spend(cells: Float64Array, at: number, departMs: number, cost: number): void {
    this.layers.forEach((layer, index) => {
      const cell = at + (this.#offsets[index] as number)
      if (layer.name === 'burst') layer.restart(cells, cell, departMs)
      else layer.charge(cells, cell, departMs, layer.name === 'quota' || layer.name === 'published' ? cost : 1)
    })
  }

  /** Takes credit away from each layer that has more than it should have. What is published needs no correction. */
  lower(cells: Float64Array, at: number, credits: readonly number[], nowMs: number): void {
    this.layers.forEach((layer, index) => {
      const cell = at + (this.#offsets[index] as number)
      const excess = layer.credit(cells, cell, nowMs) - Math.max(0, credits[index] as number)
      if (excess > 0 && layer.name !== 'published') layer.charge(cells, cell, nowMs, Math.ceil(excess))
    })
  }

  /** How many requests each layer might let go at `nowMs`. */
  credits(cells: Float64Array, at: number, nowMs: number): number[] {
    return this.layers.map((layer, index) => layer.credit(cells, at + (this.#offsets[index] as number), nowMs))
  }

  /** The state of a host, a list of numbers per layer; plain JSON but for infinities. */
  save(cells: Float64Array, at: number): number[][] {
    return this.layers.map((layer, index) => layer.save(cells, at + (this.#offsets[index] as number)))
  }

  load(cells: Float64Array, at: number, saved: readonly (readonly number[])[]): void {
    this.layers.forEach((layer, index) => {
      layer.load(cells, at + (this.#offsets[index] as number), saved[index] as readonly number[])
    })
  }

  /**
   * Takes over the credit used under another policy: each layer from the first of the same rule that
   * no other has taken over yet, or at least of the same kind.
   */
  adopt(
    cells: Float64Array,
    at: number,
    former: LayerStack,
    saved: readonly (readonly number[])[],
    nowMs: number,
  ): void {
    const taken = new Set<Layer>()
    this.layers.forEach((layer, index) => {
      const isFree = (old: Layer) => !taken.has(old)
      const old =
        former.layers.find((old) => isFree(old) && old.constructor === layer.constructor) ??
        former.layers.find((old) => isFree(old) && old instanceof LeakyBucket && layer instanceof LeakyBucket)
      if (old === undefined) {
        if (layer.name !== 'interval') return
        // Nobody has kept when the last one left, only by when it had.
        const departedMs = Math.min(nowMs, former.#departedBy(saved))
        if (departedMs > Number.NEGATIVE_INFINITY) {
          layer.charge(cells, at + (this.#offsets[index] as number), departedMs, 1)
        }
        return
      }
      const source = former.layers.indexOf(old)
      taken.add(old)
      layer.adopt(cells, at + (this.#offsets[index] as number), old, saved[source] as readonly number[], nowMs)
    })
  }

  /** By when all had left whom a state knows of: each layer remembers a departure for at least as long as it is to come. */
  #departedBy(saved: readonly (readonly number[])[]): number {
    const cells = this.fresh()
    this.load(cells, 0, saved)
    const recoveredMs = this.layers.flatMap((layer, index) => {
      const atMs = layer.recoveredAt(cells, this.#offsets[index] as number)
      return layer.name === 'published' || atMs === Number.NEGATIVE_INFINITY ? [] : [atMs]
    })
    this.release(cells, 0)
    return recoveredMs.length === 0 ? Number.NEGATIVE_INFINITY : Math.min(...recoveredMs)
  }

  /** A copy of the state to try things on; `release` it afterwards. */
  fork(cells: Float64Array, at: number): Float64Array {
    const copy = this.fresh()
    this.load(copy, 0, this.save(cells, at))
    return copy
  }

  /** Takes in what was learned of the host. */
  learn(cells: Float64Array, at: number, learned: Learned, nowMs: number): void {
    this.layers.forEach((layer, index) => {
      layer.learn(cells, at + (this.#offsets[index] as number), learned, nowMs)
    })
  }

  /** Frees what a state refers to outside of its cells. */
  release(cells: Float64Array, at: number): void {
    this.layers.forEach((layer, index) => {
      layer.release(cells, at + (this.#offsets[index] as number))
    })
  }
}
