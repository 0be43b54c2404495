import { type Outcome, type Pacer, type Permit, takeHandover, type WaitOptions, waitForAll } from '@hostpace/core'

/** One request on its way to one host, with the permit of each pacer. */
export class Hop {
  readonly pacers: readonly Pacer[]
  readonly #origin: string
  readonly #permits: readonly Permit[]
  #sentAtMs = 0

  private constructor(pacers: readonly Pacer[], permits: readonly Permit[], origin: string) {
    this.pacers = pacers
    this.#permits = permits
    this.#origin = origin
  }

  /**
   * Waits until every pacer lets a request to `url` leave, one after the other. Where it has waited further up, it
   * does not wait again.
   *
   * @throws what a pacer rejects with; what the pacers before it had granted is given back.
   */
  static async enter(pacers: readonly Pacer[], url: URL, options: WaitOptions): Promise<Hop> {
    const waiting = pacers.filter((pacer) => !takeHandover(pacer, url.href))
    return new Hop(pacers, await waitForAll(waiting, url, options), url.origin)
  }

  /** The request is handed to `fetch`, which does not tell when it is on the wire. */
  sent(): void {
    this.#sentAtMs = performance.now()
    for (const permit of this.#permits) permit.sent()
  }

  /** The headers of the response came just now. What is hidden from the program has the status 0. */
  answered({ status, headers, url, redirected }: Response): void {
    if (status === 0) return
    if (redirected && URL.canParse(url) && new URL(url).origin !== this.#origin) {
      // Where fetch has followed by itself, this is the word of another host.
      for (const pacer of this.pacers) pacer.observe(url, { status, headers })
      return
    }
    const outcome: Outcome = { status, headers, latencyMs: performance.now() - this.#sentAtMs }
    for (const permit of this.#permits) permit.observe(outcome)
  }

  /** The body has ended, failed or been discarded. */
  over(outcome?: Outcome): void {
    for (const permit of this.#permits) permit.done(outcome)
  }
}
