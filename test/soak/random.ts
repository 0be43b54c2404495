/** Random numbers that come again with the same seeds, so that whatever a soak did can be done once more. */
export class Random {
  #state: number

  constructor(...seeds: readonly number[]) {
    this.#state = seeds.reduce((hash, seed) => Math.imul(hash ^ seed, 0x9e3779b1) ^ (hash >>> 15), 0x2545f491)
  }

  /** At least 0 and below 1; the generator is "mulberry32". */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  /** A whole number, both ends included. */
  between(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  one<T>(list: readonly T[]): T {
    return list[this.between(0, list.length - 1)] as T
  }

  /** One of the things, each as often as its weight says. */
  pick<T>(weighted: readonly (readonly [weight: number, thing: T])[]): T {
    let left = this.next() * weighted.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, thing] of weighted) {
      left -= weight
      if (left < 0) return thing
    }
    return (weighted.at(-1) as readonly [number, T])[1]
  }
}
