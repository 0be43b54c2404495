import {
  createPacer,
  memoryStore,
  type Pacer,
  type PacerOptions,
  type Permit,
  type Store,
  type WaitOptions,
} from '@hostpace/core'
import { asyncStore } from './async-store.ts'
import { settle, TestClock } from './test-clock.ts'

/** The stores that all behaviour must be the same with: one that answers at once and one that answers later. */
export const stores: readonly { readonly name: string; readonly make: () => Store }[] = [
  { name: 'store that answers at once', make: memoryStore },
  { name: 'store that answers later', make: asyncStore },
]

export const url = 'https://a.example/page'

/** A pacer on a clock of its own, and what has left through it. */
export class Setting {
  readonly clock: TestClock
  readonly pacer: Pacer
  readonly store: Store
  /** `name@time` of each that left, in order. */
  readonly starts: string[] = []
  /** What was refused, by name. */
  readonly refusals: Map<string, unknown> = new Map()
  readonly permits: Map<string, Permit> = new Map()

  constructor(store: Store, options: PacerOptions = {}, clock: TestClock = new TestClock()) {
    this.clock = clock
    this.store = store
    this.pacer = createPacer({ clock, store, ...options })
  }

  get times(): number[] {
    return this.starts.map((start) => Number(start.slice(start.lastIndexOf('@') + 1)))
  }

  get names(): string[] {
    return this.starts.map((start) => start.slice(0, start.lastIndexOf('@')))
  }

  /** Sends a request as soon as it may leave; it is over at once, unless it is kept. */
  send(name: string, options: WaitOptions & { to?: string; keep?: boolean } = {}): Promise<void> {
    const { to = url, keep = false, ...rest } = options
    return this.pacer.wait(to, rest).then(
      (permit) => {
        this.starts.push(`${name}@${this.clock.now()}`)
        this.permits.set(name, permit)
        if (!keep) permit.done()
      },
      (error) => void this.refusals.set(name, error),
    )
  }

  /** Sends several and does not wait for them. */
  sendAll(names: Iterable<string | number>, options?: Parameters<Setting['send']>[1]): void {
    for (const name of names) void this.send(String(name), options)
  }

  /** Moves the clock on. */
  pass(ms: number): Promise<void> {
    return this.clock.pass(ms)
  }

  /** Lets what is under way settle. */
  settle(): Promise<void> {
    return settle()
  }

  /** The error of a refused request. */
  refusal<T = Error & { code: string }>(name: string): T {
    if (!this.refusals.has(name)) throw new Error(`${name} was not refused`)
    return this.refusals.get(name) as T
  }
}

/** `count` numbers from `first` on. */
export function range(count: number, first = 0): number[] {
  return Array.from({ length: count }, (_, index) => first + index)
}
