import type { LayerStack } from './layer-stack.ts'

/** The states of all hosts under one policy, side by side in one array. */
export class CellArena {
  readonly stack: LayerStack
  cells: Float64Array
  #used = 0
  readonly #free: number[] = []

  constructor(stack: LayerStack) {
    this.stack = stack
    this.cells = new Float64Array(stack.size)
  }

  /** Whether nobody's state is kept here. */
  get isEmpty(): boolean {
    return this.#free.length * this.stack.size === this.#used
  }

  /** Makes room for the state of a host never asked. @returns the index of its first cell */
  add(): number {
    const at = this.#free.pop() ?? this.#grow()
    this.stack.reset(this.cells, at)
    return at
  }

  /** Gives the room of a state back. */
  remove(at: number): void {
    this.stack.release(this.cells, at)
    this.#free.push(at)
  }

  #grow(): number {
    const at = this.#used
    this.#used += this.stack.size
    if (this.#used > this.cells.length) {
      const larger = new Float64Array(Math.ceil(this.#used * 1.5))
      larger.set(this.cells)
      this.cells = larger
    }
    return at
  }
}
