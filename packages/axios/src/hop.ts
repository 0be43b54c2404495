import { type HeaderCarrier, type Outcome, type Pacer, type Permit, type WaitOptions, waitForAll } from '@hostpace/core'

/**
 * One request on its way to one host, with the permit of each pacer.
 *
 * Whoever sees a part of its life reports it: `written` or `sent`, `answered`, `over`. What is reported twice counts once.
 */
export class Hop {
  readonly #permits: readonly Permit[]
  #sentAtMs: number | undefined
  #answered = false
  #isWritten = false
  /** Whether the request that this hop stands for has begun; a second one is a redirect. */
  begun = false

  private constructor(permits: readonly Permit[]) {
    this.#permits = permits
  }

  /**
   * Waits until every pacer lets a request to `url` leave, one after the other.
   *
   * @throws what a pacer rejects with; what the pacers before it had granted is given back.
   */
  static async enter(pacers: readonly Pacer[], url: string | URL, options: WaitOptions): Promise<Hop> {
    return new Hop(await waitForAll(pacers, url, options))
  }

  /** The request is on the wire. */
  sent(): void {
    if (this.#sentAtMs !== undefined) return
    this.#sentAtMs = performance.now()
    for (const permit of this.#permits) permit.sent()
  }

  /** The request is written in this turn. */
  written(): void {
    this.#isWritten = true
    // After the write and not before it: should this process lose its processor in between, the gap still holds.
    setImmediate(() => this.sent())
  }

  /** The headers of the response came just now. */
  answered(status: number | undefined, headers: HeaderCarrier): void {
    this.#observe(status, () => headers, true)
  }

  /** The client has a response whose headers came at some time before, perhaps unseen. */
  arrived(status: number | undefined, headers: () => HeaderCarrier): void {
    this.#observe(status, headers, false)
  }

  /** The body has ended, failed or been discarded. The outcome of an answered request is known already. */
  over(outcome?: Outcome): void {
    // It may be given up between the write and our saying so; the host has seen it all the same.
    if (this.#isWritten) this.sent()
    for (const permit of this.#permits) permit.done(this.#answered ? undefined : outcome)
  }

  #observe(status: number | undefined, headers: () => HeaderCarrier, timed: boolean): void {
    if (this.#answered || status === undefined) return
    this.#answered = true
    this.sent()
    const latencyMs = timed ? performance.now() - (this.#sentAtMs ?? 0) : undefined
    for (const permit of this.#permits) permit.observe({ status, headers: headers(), latencyMs })
  }
}
