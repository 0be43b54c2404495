import { watchSignal } from './watch-signal.ts'

/** A body, and who of those that may read it, by a response or its clones, still wants it. */
export class BodyWatch {
  readonly #whenOver: () => void
  readonly #stop: () => void
  #wanted = 0

  /** @param signal what aborts the request, and so the body */
  constructor(signal: AbortSignal | undefined, whenOver: () => void) {
    this.#whenOver = whenOver
    this.#stop = watchSignal(signal, () => this.end())
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

  /** The body has come whole or has failed, for whoever reads it. */
  end(): void {
    this.#stop()
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
