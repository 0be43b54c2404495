/** Somebody who wants to know when a signal is aborted. */
export interface AbortListener {
  aborted(): void
}

/**
 * Those who wait under one signal, with one listener for all of them: platforms take more than a few on one
 * target for a leak and warn.
 */
class AbortWatch {
  readonly #signal: AbortSignal
  readonly #listeners = new Set<AbortListener>()

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  add(listener: AbortListener): void {
    if (this.#listeners.size === 0) this.#signal.addEventListener('abort', this)
    this.#listeners.add(listener)
  }

  remove(listener: AbortListener): void {
    if (this.#listeners.delete(listener) && this.#listeners.size === 0) {
      this.#signal.removeEventListener('abort', this)
    }
  }

  handleEvent(): void {
    // Whoever is told takes itself out, and may take out others that have not been told.
    for (const listener of this.#listeners) listener.aborted()
  }
}

const watches = new WeakMap<AbortSignal, AbortWatch>()

/** For adapters: calls `listener.aborted()` in the turn in which `signal` is aborted. */
export function watchAbort(signal: AbortSignal, listener: AbortListener): void {
  let watch = watches.get(signal)
  if (watch === undefined) {
    watch = new AbortWatch(signal)
    watches.set(signal, watch)
  }
  watch.add(listener)
}

/** For adapters: ends `watchAbort`; nothing stays behind on the signal when the last has ended. */
export function unwatchAbort(signal: AbortSignal, listener: AbortListener): void {
  watches.get(signal)?.remove(listener)
}

/** What `promise` gives, unless the signal is aborted before: then it rejects in the same turn with exactly its reason. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined || signal === null) return promise
  return new Promise((resolve, reject) => {
    const listener: AbortListener = { aborted: () => reject(signal.reason) }
    if (signal.aborted) reject(signal.reason)
    else watchAbort(signal, listener)
    promise.then(resolve, reject).finally(() => unwatchAbort(signal, listener))
  })
}
