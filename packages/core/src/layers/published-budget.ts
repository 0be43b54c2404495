import type { Learned, PublishedLimit } from '../learning/learned.ts'
import { Layer } from './layer.ts'

/** How many limits of one host are kept apart; of more, the tightest count. */
const mostLimits = 4

/** Numbers of state per limit. */
const width = 5

const none = Number.POSITIVE_INFINITY

/**
 * What a host says is left of its own limits, spread so that it lasts until they reset. Of several limits the one
 * that asks for the longest wait counts.
 *
 * When a window is over, the next one is taken to have the same limit and length, if both are known; else nothing is
 * asked for until the host says more.
 *
 * Its state is, per limit, the requests that are left (infinity for no limit), the moment of the reset, the limit and
 * the length of the window (0 if unknown) and the moment from which on the next request may depart; and the last
 * departure.
 */
export class PublishedBudget extends Layer {
  readonly name = 'published'
  readonly rule = 'PublishedBudget'
  readonly size: number = mostLimits * width + 1
  readonly maxCost: number = Number.MAX_SAFE_INTEGER

  constructor() {
    super({})
  }

  reset(cells: Float64Array, at: number): void {
    for (let limit = 0; limit < mostLimits; limit++) clear(cells, at + limit * width)
    cells[at + mostLimits * width] = Number.NEGATIVE_INFINITY
  }

  earliest(cells: Float64Array, at: number, nowMs: number, cost: number): number {
    let departMs = nowMs
    for (let cell = at; cell < at + mostLimits * width; cell += width) {
      const [left, resetAtMs] = [cells[cell] as number, cells[cell + 1] as number]
      departMs = Math.max(departMs, cells[cell + 4] as number)
      if (left < cost && resetAtMs > departMs) departMs = resetAtMs
    }
    return departMs
  }

  charge(cells: Float64Array, at: number, departMs: number, cost: number): void {
    for (let cell = at; cell < at + mostLimits * width; cell += width) {
      if (cells[cell] === none) continue
      if (departMs >= (cells[cell + 1] as number)) turnOver(cells, cell, departMs)
      if (cells[cell] === none) continue
      const gapMs = gapOf(cells, cell, departMs)
      cells[cell] = Math.max(0, (cells[cell] as number) - cost)
      cells[cell + 4] = departMs + cost * gapMs
    }
    cells[at + mostLimits * width] = departMs
  }

  restart(_cells: Float64Array, _at: number, _atMs: number): void {
    // What is left is spread already.
  }

  recoveredAt(cells: Float64Array, at: number): number {
    let atMs = Number.NEGATIVE_INFINITY
    for (let cell = at; cell < at + mostLimits * width; cell += width) {
      atMs = Math.max(atMs, cells[cell + 1] as number, cells[cell + 4] as number)
    }
    return atMs
  }

  credit(cells: Float64Array, at: number, nowMs: number): number {
    return this.earliest(cells, at, nowMs, 1) > nowMs ? 0 : 1
  }

  override isStrict(cells: Float64Array, at: number): boolean {
    return Array.from({ length: mostLimits }, (_, limit) => cells[at + limit * width]).some((left) => left !== none)
  }

  override learn(cells: Float64Array, at: number, { published = [] }: Learned, nowMs: number): void {
    const lastMs = cells[at + mostLimits * width] as number
    const tightest = published
      .filter(({ remaining, resetAtMs }) => remaining !== undefined && resetAtMs !== undefined)
      .sort((a, b) => spreadMs(b, nowMs) - spreadMs(a, nowMs))
    for (let limit = 0; limit < mostLimits; limit++) {
      const cell = at + limit * width
      const known = tightest[limit]
      clear(cells, cell)
      if (known === undefined) continue
      cells[cell] = known.remaining as number
      cells[cell + 1] = known.resetAtMs as number
      cells[cell + 2] = known.limit ?? 0
      cells[cell + 3] = known.windowMs ?? 0
      if (nowMs < (cells[cell + 1] as number)) cells[cell + 4] = lastMs + gapOf(cells, cell, Math.max(nowMs, lastMs))
    }
  }

  describe(): Record<string, number> {
    return {}
  }
}

/** Milliseconds from one request to the next, so that what is left lasts until the reset. */
export function spreadMs({ remaining, resetAtMs }: PublishedLimit, nowMs: number): number {
  return remaining === undefined || resetAtMs === undefined ? 0 : spread(remaining, resetAtMs - nowMs)
}

function gapOf(cells: Float64Array, cell: number, atMs: number): number {
  return spread(cells[cell] as number, (cells[cell + 1] as number) - atMs)
}

function spread(remaining: number, leftMs: number): number {
  return Math.max(0, leftMs) / Math.max(1, remaining)
}

/** Begins the window that `nowMs` lies in. */
function turnOver(cells: Float64Array, cell: number, nowMs: number): void {
  const [resetAtMs, limit, windowMs] = [cells[cell + 1] as number, cells[cell + 2] as number, cells[cell + 3] as number]
  if (limit === 0 || windowMs === 0) {
    clear(cells, cell)
  } else {
    cells[cell] = limit
    cells[cell + 1] = resetAtMs + (Math.floor((nowMs - resetAtMs) / windowMs) + 1) * windowMs
  }
}

function clear(cells: Float64Array, cell: number): void {
  cells[cell] = none
  cells[cell + 1] = Number.NEGATIVE_INFINITY
  cells[cell + 2] = 0
  cells[cell + 3] = 0
  cells[cell + 4] = Number.NEGATIVE_INFINITY
}
