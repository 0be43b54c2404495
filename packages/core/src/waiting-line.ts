/** One who waits, linked into the line it waits in. */
export interface Waiting {
  readonly priority: number
  isInLine: boolean
  next: this | undefined
  previous: this | undefined
}

/** Those of one priority, first come, first served. */
interface Row<W extends Waiting> {
  readonly priority: number
  first: W
  last: W
}

/**
 * A line in which higher priorities stand before lower ones and equals in the order they came. Anybody
 * can leave it from anywhere at the same cost.
 */
export class WaitingLine<W extends Waiting> implements Iterable<W> {
  /** The highest priority first; in nearly every line there is but one row. */
  readonly #rows: Row<W>[] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Whose turn it is. */
  get head(): W | undefined {
    return this.#rows[0]?.first
  }

  /** Behind whom nobody stands. */
  get last(): W | undefined {
    return this.#rows.at(-1)?.last
  }

  add(waiter: W): void {
    waiter.isInLine = true
    this.#size++
    const place = this.#placeOf(waiter.priority)
    const row = this.#rows[place]
    if (row === undefined || row.priority !== waiter.priority) {
      this.#rows.splice(place, 0, { priority: waiter.priority, first: waiter, last: waiter })
      return
    }
    waiter.previous = row.last
    row.last.next = waiter
    row.last = waiter
  }

  remove(waiter: W): void {
    waiter.isInLine = false
    this.#size--
    const { previous, next } = waiter
    const place = this.#placeOf(waiter.priority)
    const row = this.#rows[place] as Row<W>
    if (previous === undefined && next === undefined) this.#rows.splice(place, 1)
    if (previous !== undefined) previous.next = next
    else if (next !== undefined) row.first = next
    if (next !== undefined) next.previous = previous
    else if (previous !== undefined) row.last = previous
    waiter.previous = undefined
    waiter.next = undefined
  }

  *[Symbol.iterator](): Iterator<W> {
    for (const row of this.#rows) {
      for (let waiter: W | undefined = row.first; waiter !== undefined; waiter = waiter.next) yield waiter
    }
  }

  /** Where the row of this priority is or would be. */
  #placeOf(priority: number): number {
    let [place, end] = [0, this.#rows.length]
    while (place < end) {
      const middle = (place + end) >> 1
      if ((this.#rows[middle] as Row<W>).priority > priority) place = middle + 1
      else end = middle
    }
    return place
  }
}
