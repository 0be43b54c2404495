import { machineMs } from './machine-clock.ts'

/** A span in which this process did nothing, or only one thing, in milliseconds of `machineMs`. */
interface Pause {
  readonly fromMs: number
  readonly toMs: number
}

/** Shorter ones are within what is tolerated anyway. */
const shortestMs = 20

/** What has piled up in a pause is done this long after it. */
const aftermathMs = 20

/** So many in a row may hold up one request: before it is made, before its connection stands and before it is written. */
const mostInARow = 3

/** Watches when this process, which is busy and has no processor of its own, comes late to what it has to do. */
export class PauseWatch {
  readonly #pauses: Pause[] = []
  readonly #timer: NodeJS.Timeout

  constructor() {
    let lastMs = machineMs()
    this.#timer = setInterval(() => {
      const nowMs = machineMs()
      if (nowMs - lastMs > shortestMs) this.#pauses.push({ fromMs: lastMs, toMs: nowMs })
      lastMs = nowMs
    }, 2)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** In words. */
  get summary(): string {
    const lengths = this.#pauses.map(({ fromMs, toMs }) => toMs - fromMs)
    const allMs = lengths.reduce((sum, length) => sum + length, 0)
    return `${lengths.length} times, ${(allMs / 1000).toFixed(1)} s in all, ${Math.max(0, ...lengths).toFixed(0)} ms at the longest`
  }

  /** When something may have been begun that happened at this moment: before, if a pause has held it up. */
  begunMs(atMs: number): number {
    let beganMs = atMs
    const last = this.#after(atMs) - 1
    for (let at = last; at > last - mostInARow; at--) {
      const pause = this.#pauses[at]
      if (pause === undefined || beganMs > pause.toMs + aftermathMs) break
      beganMs = pause.fromMs
    }
    return beganMs
  }

  /** The place of the first pause that begins at `atMs` or later. */
  #after(atMs: number): number {
    let low = 0
    let high = this.#pauses.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#pauses[middle] as Pause).fromMs < atMs) low = middle + 1
      else high = middle
    }
    return low
  }
}
