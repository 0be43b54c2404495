import type { Controller } from './dispatch.ts'
import type { PacedRequest } from './paced-request.ts'

/** What the handler controls its request by: from before the wait on, until the end. */
export class StableController implements Controller {
  readonly #request: PacedRequest
  #real: Controller | undefined
  #isPaused = false

  constructor(request: PacedRequest) {
    this.#request = request
  }

  /** Passes on to undici's own controller from now on. */
  follow(real: Controller): void {
    this.#real = real
    if (this.#isPaused) real.pause()
  }

  get aborted(): boolean {
    return this.#request.isAborted || (this.#real?.aborted ?? false)
  }

  get reason(): unknown {
    return this.#request.abortReason ?? this.#real?.reason ?? null
  }

  get paused(): boolean {
    return this.#real?.paused ?? this.#isPaused
  }

  get rawHeaders(): unknown {
    return this.#real?.rawHeaders
  }

  set rawHeaders(headers: unknown) {
    if (this.#real) this.#real.rawHeaders = headers
  }

  get rawTrailers(): unknown {
    return this.#real?.rawTrailers
  }

  set rawTrailers(trailers: unknown) {
    if (this.#real) this.#real.rawTrailers = trailers
  }

  abort(reason?: unknown): void {
    this.#request.abort(reason)
  }

  pause(): void {
    this.#isPaused = true
    this.#real?.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#real?.resume()
  }
}
