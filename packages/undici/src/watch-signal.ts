type Emitter = Pick<NodeJS.EventEmitter, 'on' | 'off'>
type Signal = (EventTarget | Emitter) & { readonly aborted?: boolean; readonly reason?: unknown }

/** Hears that a signal was aborted, and why. */
type Listener = (reason: unknown) => void

const watches = new WeakMap<Signal, SignalWatch>()

/**
 * Calls `listener` when the signal, of either kind that undici takes, is aborted; at once if it is already.
 *
 * @returns what ends the watch
 */
export function watchSignal(signal: unknown, listener: Listener): () => void {
  if (signal === null || typeof signal !== 'object') return () => {}
  const source = signal as Signal
  if (source.aborted) {
    listener(source.reason)
    return () => {}
  }
  const watch = watches.get(source) ?? new SignalWatch(source)
  watches.set(source, watch)
  watch.add(listener)
  return () => watch.remove(listener)
}

/** One listener for all who wait under one signal: Node takes more than ten for a leak and warns. */
class SignalWatch {
  readonly #signal: Signal
  readonly #listeners = new Set<Listener>()

  constructor(signal: Signal) {
    this.#signal = signal
  }

  add(listener: Listener): void {
    this.#listeners.add(listener)
    if (this.#listeners.size > 1) return
    if ('addEventListener' in this.#signal) this.#signal.addEventListener('abort', this.#onAbort)
    else this.#signal.on('abort', this.#onAbort)
  }

  remove(listener: Listener): void {
    if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return
    if ('removeEventListener' in this.#signal) this.#signal.removeEventListener('abort', this.#onAbort)
    else this.#signal.off('abort', this.#onAbort)
  }

  readonly #onAbort = (): void => {
    for (const listener of this.#listeners) listener(this.#signal.reason)
  }
}
