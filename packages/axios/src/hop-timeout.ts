import type { ClientRequest } from 'node:http'

/** What follow-redirects keeps of a call; private to it, so nothing here is taken for granted. */
interface Redirectable {
  _timeout?: NodeJS.Timeout | null
  emit(event: 'timeout'): boolean
}

/**
 * The time-out of follow-redirects, which is one for all hops, less the time that hops wait.
 *
 * Where its timer is not found, the waits of redirect hops count.
 */
export class HopTimeout {
  readonly #totalMs: number
  #startedAtMs: number | undefined
  #pausedMs = 0

  constructor(totalMs: number) {
    this.#totalMs = totalMs
  }

  /** The first request has a socket, from which the time-out runs. */
  started(): void {
    this.#startedAtMs ??= performance.now()
  }

  /** Stops the timer; what is returned lets it run for the time that was left. */
  pause(request: ClientRequest & { _redirectable?: Redirectable }): () => void {
    const { _redirectable: redirectable } = request
    const pausedAtMs = performance.now()
    if (!redirectable?._timeout || this.#startedAtMs === undefined) return () => {}

    clearTimeout(redirectable._timeout)
    const leftMs = this.#totalMs - (pausedAtMs - this.#startedAtMs - this.#pausedMs)
    return () => {
      this.#pausedMs += performance.now() - pausedAtMs
      redirectable._timeout = setTimeout(() => redirectable.emit('timeout'), Math.max(0, leftMs))
    }
  }
}
