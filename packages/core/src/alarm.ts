import type { Clock } from './clock.ts'
import { nanosecondMs } from './layers/layer.ts'

/** Something to be woken at a time. The alarm keeps its place in `heapIndex`. */
export interface Sleeper {
  /** When to wake, on the clock of the alarm. */
  wakeAtMs: number
  /** Where the alarm has it; -1 when it is not set. */
  heapIndex: number
  wake(): void
}

/** What `promise` gives, unless `atMs` comes before: then it rejects with what `late` makes. */
export function inTime<T>(promise: Promise<T>, alarm: Alarm, atMs: number, late: () => Error): Promise<T> {
  if (atMs === Number.POSITIVE_INFINITY) return promise
  return new Promise((resolve, reject) => {
    const sleeper: Sleeper = { wakeAtMs: atMs, heapIndex: -1, wake: () => reject(late()) }
    alarm.set(sleeper, atMs)
    promise.then(resolve, reject).finally(() => alarm.clear(sleeper))
  })
}

/** The longest delay that timers take; a longer one would fire at once. */
const longestTimerMs = 2 ** 31 - 1

/**
 * One timer for any number of sleepers.
 *
 * Timers of the platform may fire early or late, and take whole milliseconds of at most 2^31 - 1. So the
 * delay is rounded up, the clock is looked at again when the timer fires, and a long delay is slept
 * in pieces. Nobody is woken early. As long as somebody sleeps, the timer keeps the process alive.
 */
export class Alarm {
  readonly #clock: Required<Clock>
  /** A binary heap; the earliest first. */
  readonly #heap: Sleeper[] = []
  #timer: unknown
  #timerAtMs = Number.POSITIVE_INFINITY
  #isFiring = false

  constructor(clock: Required<Clock>) {
    this.#clock = clock
  }

  /** Wakes `sleeper` once at `atMs`, in place of the time set before. */
  set(sleeper: Sleeper, atMs: number): void {
    sleeper.wakeAtMs = atMs
    if (sleeper.heapIndex < 0) {
      sleeper.heapIndex = this.#heap.length
      this.#heap.push(sleeper)
    }
    this.#settle(sleeper)
    this.#arm()
  }

  /** Forgets a sleeper. */
  clear(sleeper: Sleeper): void {
    if (sleeper.heapIndex < 0) return
    this.#take(sleeper)
    this.#arm()
  }

  #arm(): void {
    if (this.#isFiring) return
    const atMs = this.#heap[0]?.wakeAtMs ?? Number.POSITIVE_INFINITY
    if (atMs === this.#timerAtMs) return
    if (this.#timer !== undefined) this.#clock.clearTimer(this.#timer)
    this.#timer = undefined
    this.#timerAtMs = atMs
    if (this.#heap.length === 0) return
    const delayMs = Math.min(Math.max(0, Math.ceil(atMs - nanosecondMs - this.#clock.now())), longestTimerMs)
    this.#timer = this.#clock.setTimer(() => this.#fire(), delayMs)
  }

  #fire(): void {
    this.#timer = undefined
    this.#timerAtMs = Number.POSITIVE_INFINITY
    this.#isFiring = true
    const nowMs = this.#clock.now() + nanosecondMs
    try {
      for (let first = this.#heap[0]; first !== undefined && first.wakeAtMs <= nowMs; first = this.#heap[0]) {
        this.#take(first)
        first.wake()
      }
    } finally {
      // Whatever went wrong with one, the others are still to be woken.
      this.#isFiring = false
      this.#arm()
    }
  }

  #take(sleeper: Sleeper): void {
    const last = this.#heap.pop() as Sleeper
    if (last !== sleeper) {
      last.heapIndex = sleeper.heapIndex
      this.#heap[last.heapIndex] = last
      this.#settle(last)
    }
    sleeper.heapIndex = -1
  }

  /** Moves a sleeper up or down to where its time belongs. */
  #settle(sleeper: Sleeper): void {
    while (sleeper.heapIndex > 0) {
      const parent = this.#heap[(sleeper.heapIndex - 1) >> 1] as Sleeper
      if (parent.wakeAtMs <= sleeper.wakeAtMs) break
      this.#swap(sleeper, parent)
    }
    for (let child = this.#earlierChild(sleeper); child !== undefined; child = this.#earlierChild(sleeper)) {
      this.#swap(child, sleeper)
    }
  }

  #earlierChild(sleeper: Sleeper): Sleeper | undefined {
    const left = this.#heap[sleeper.heapIndex * 2 + 1]
    const right = this.#heap[sleeper.heapIndex * 2 + 2]
    const child = left !== undefined && right !== undefined && right.wakeAtMs < left.wakeAtMs ? right : left
    return child !== undefined && child.wakeAtMs < sleeper.wakeAtMs ? child : undefined
  }

  #swap(a: Sleeper, b: Sleeper): void {
    const index = a.heapIndex
    a.heapIndex = b.heapIndex
    b.heapIndex = index
    this.#heap[a.heapIndex] = a
    this.#heap[b.heapIndex] = b
  }
}
