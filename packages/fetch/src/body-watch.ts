import { type AbortListener, unwatchAbort, watchAbort } from '@hostpace/core'

/** A body, and who of those that may read it, by a response or its clones, still wants it. */
export class BodyWatch implements AbortListener {
  readonly #whenOver: () => void
  readonly #signal: AbortSignal | undefined
  #wanted = 0

  /** @param signal what aborts the request, and so the body */
  constructor(signal: AbortSignal | undefined, whenOver: () => void) {
    this.#whenOver = whenOver
    this.#signal = signal
    if (signal !== undefined) watchAbort(signal, this)
  }

  /** One more response reads the body. */
  branch(): Branch {
    this.#wanted++
    return new Branch(this)
  }

  drop(): void {
    this.#wanted--
    if (this.#wanted === 0) this.end()
  }

  aborted(): void {
    this.end()
  }

  /** The body has come whole or has failed, for whoever reads it. */
  end(): void {
    if (this.#signal !== undefined) unwatchAbort(this.#signal, this)
    this.#whenOver()
  }
}

/** One of the responses that share a body. It does not know the response, which may be garbage. */
export class Branch {
  readonly #watch: BodyWatch
  #isDropped = false

  constructor(watch: BodyWatch) {
    this.#watch = watch
  }

  /** The body was read to its end, or failed. */
  ended(): void {
    this.#watch.end()
  }

  /** The response is cancelled, or nobody has it any more. */
  dropped(): void {
    if (this.#isDropped) return
    this.#isDropped = true
    this.#watch.drop()
  }

  /** A clone of the response. */
  sibling(): Branch {
    return this.#watch.branch()
  }
}
