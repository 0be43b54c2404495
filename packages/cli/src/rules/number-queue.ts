/** Numbers, first in first out, in an array that grows as needed. */
export class NumberQueue {
  #cells = new Float64Array(64)
  #head = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  /** @param index from the oldest, 0, to the newest, `length - 1` */
  at(index: number): number {
    return this.#cells[(this.#head + index) % this.#cells.length] as number
  }

  push(value: number): void {
    if (this.#length === this.#cells.length) this.#grow()
    this.#cells[(this.#head + this.#length) % this.#cells.length] = value
    this.#length++
  }

  /** Takes the oldest away. */
  shift(): void {
    this.#head = (this.#head + 1) % this.#cells.length
    this.#length--
  }

  #grow(): void {
    const larger = new Float64Array(2 * this.#cells.length)
    for (let index = 0; index < this.#length; index++) larger[index] = this.at(index)
    this.#cells = larger
    this.#head = 0
  }
}
