import type { Options } from 'got'
import { Hop } from './hop.ts'

/**
 * Hops that follow each other and are given up together: those of a promise with all of its attempts, or of one
 * attempt of a stream.
 */
export class HopChain {
  #hop: Hop | undefined
  #isGivenUp = false

  /** Begins the next hop. got has left behind what the one before was answered, even if it says so late or never. */
  next(options: Options): Hop {
    this.#hop?.end()
    this.#hop = new Hop(options)
    if (this.#isGivenUp) this.#hop.giveUp()
    return this.#hop
  }

  giveUp(): void {
    this.#isGivenUp = true
    this.#hop?.giveUp()
  }
}
