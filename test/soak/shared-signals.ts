import { getEventListeners, setMaxListeners } from 'node:events'

/** How many requests a signal is for before it is aborted, with all that still run under it. */
const usesPerSignal = 400

/** Signals that many requests share, as those of a user's session would be. */
export class SharedSignals {
  readonly #all: AbortSignal[] = []
  #controller = new AbortController()
  #usesLeft = 0

  /** A signal for one request. */
  take(): AbortSignal {
    if (this.#usesLeft === 0) {
      // Not all are aborted: on those that live on, too, nothing may stay behind.
      if (this.#all.length % 2 === 0) this.#controller.abort(new Error('The session is over'))
      this.#controller = new AbortController()
      this.#usesLeft = usesPerSignal
      this.#all.push(this.#controller.signal)
      // Each request adds a listener of its client's own. Node 20 takes 0, "no bound", for no signal at all.
      setMaxListeners(10_000, this.#controller.signal)
    }
    this.#usesLeft--
    return this.#controller.signal
  }

  get count(): number {
    return this.#all.length
  }

  /** How many listeners there are on all of them. */
  listeners(): number {
    return this.#all.reduce((sum, signal) => sum + getEventListeners(signal, 'abort').length, 0)
  }
}
