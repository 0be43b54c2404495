type Listener = ((event: unknown) => void) | { handleEvent(event: unknown): void }

/**
 * What a pacer needs of an `AbortSignal`, for one listener at a time. An `AbortController` for each request
 * would take ten times as long as all the rest of the way through the interceptor.
 */
export class WaitSignal {
  aborted = false
  reason: unknown
  #listener: Listener | undefined

  get asSignal(): AbortSignal {
    return this as unknown as AbortSignal
  }

  abort(reason: unknown): void {
    this.aborted = true
    this.reason = reason
    const listener = this.#listener
    this.#listener = undefined
    const event = { type: 'abort', target: this }
    if (typeof listener === 'function') listener(event)
    else listener?.handleEvent(event)
  }

  addEventListener(_type: 'abort', listener: Listener): void {
    this.#listener = listener
  }

  removeEventListener(_type: 'abort', listener: Listener): void {
    if (this.#listener === listener) this.#listener = undefined
  }
}
