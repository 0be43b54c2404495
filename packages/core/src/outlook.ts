import type { LayerName } from './layers/layer.ts'
import type { HostView } from './stores/store.ts'

/**
 * The departures foretold to a line, kept so that a newcomer at its end costs one look and not one at each who waits.
 *
 * It ages. Departures come a little late, which makes it too hopeful: it is good for a quarter of those that were
 * ahead. Whoever leaves the line in another way, or a slot that comes free, makes it too gloomy: it is not `isSure`
 * any more, and nobody may be refused by it.
 */
export class Outlook {
  isSure: boolean
  readonly #view: HostView
  /** From the clock of this process to the one that the forecast speaks of. */
  readonly #aheadMs: number
  #departuresLeft: number

  /**
   * @param view its forecast has let the whole line depart
   * @param size how many those are
   * @param isSure whether nobody else can change what the view says
   */
  constructor(view: HostView, size: number, nowMs: number, isSure: boolean) {
    this.#view = view
    this.#aheadMs = view.nowMs - nowMs
    this.#departuresLeft = size / 4
    this.isSure = isSure
  }

  /** The layer that asked for the wait that was last found. */
  get binding(): LayerName {
    return this.#view.forecast.binding
  }

  /** Milliseconds that one at the end of the line would wait. */
  waitOf(cost: number, nowMs: number): number {
    return Math.max(0, this.#view.forecast.find(cost) - nowMs - this.#aheadMs)
  }

  /** The one that `waitOf` was last asked for stays. */
  take(cost: number): void {
    this.#view.forecast.take(cost)
  }

  /** The head of the line has left. @returns whether the outlook is still good */
  departed(): boolean {
    return --this.#departuresLeft > 0
  }

  /** Frees what it holds. */
  end(): void {
    this.#view.forecast.end()
  }
}
