import { machineMs } from './machine-clock.ts'

/** When something happened to which request, in milliseconds of `machineMs`: many, and none of them on the heap. */
export class Stamps {
  /** Number and time, number and time, ... */
  #pairs = new Float64Array(1024)
  #length = 0
  #timesMs: Map<number, number[]> | undefined

  /** It happens now to the request with this number. */
  note(id: number): void {
    if (this.#length === this.#pairs.length) {
      const longer = new Float64Array(2 * this.#length)
      longer.set(this.#pairs)
      this.#pairs = longer
    }
    this.#pairs[this.#length++] = id
    this.#pairs[this.#length++] = machineMs()
  }

  /** When it happened to a request for the last time before `atMs`. */
  lastBefore(id: number, atMs: number): number | undefined {
    this.#timesMs ??= this.#byNumber()
    return this.#timesMs.get(id)?.findLast((timeMs) => timeMs <= atMs)
  }

  #byNumber(): Map<number, number[]> {
    const times = new Map<number, number[]>()
    for (let at = 0; at < this.#length; at += 2) {
      const id = this.#pairs[at] as number
      const timeMs = this.#pairs[at + 1] as number
      const known = times.get(id)
      if (known === undefined) times.set(id, [timeMs])
      else known.push(timeMs)
    }
    return times
  }
}
