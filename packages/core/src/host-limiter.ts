import { checkCost } from './checks.ts'
import { type Clock, checkClock, systemClock } from './clock.ts'
import { LayerStack } from './layer-stack.ts'
import type { LayerName } from './layers/layer.ts'
import { checkPolicy, layersOf, type Policy } from './policy.ts'
import { warnAboutPolicy } from './policy-warnings.ts'
import type { Reservation } from './reservation.ts'
import type { Slot } from './slot.ts'
import { SlotBook } from './slot-book.ts'

export interface HostLimiterOptions {
  /** Where the time comes from. @default the clock of this process */
  clock?: Clock
}

/**
 * The layers of one host, all of which must permit a departure.
 *
 * A departure is at the earliest moment that every layer permits, so the wait is the longest of the
 * layers' waits, and every layer is charged at that moment and not at the time of asking: a request
 * that waits is accounted where it will really happen.
 *
 * It keeps time, not a queue: `acquire` and `reserve` never sleep. A clock that steps back counts as
 * one that stands still.
 *
 * ```ts
 * const limiter = new HostLimiter({ intervalMs: 2000, rate: '10r/s', capacity: 10 })
 * limiter.acquire() // 0
 * limiter.acquire() // 2000: a burst never overrides a declared interval
 * ```
 *
 * @throws {PolicyError} if the policy makes no sense
 */
export class HostLimiter {
  readonly policy: Policy
  readonly #stack: LayerStack
  readonly #cells: Float64Array
  readonly #book = new SlotBook()
  readonly #clock: Clock
  #latestMs = Number.NEGATIVE_INFINITY
  /** Nobody goes ahead of the one that was promised last, and of the layer that it waits for. */
  #line: { readonly fromMs: number; readonly layer: LayerName } = { fromMs: Number.NEGATIVE_INFINITY, layer: 'none' }

  constructor(policy: Policy, { clock = systemClock }: HostLimiterOptions = {}) {
    this.policy = checkPolicy(policy)
    warnAboutPolicy(policy, 'policy')
    this.#stack = new LayerStack(layersOf(policy))
    this.#cells = this.#stack.fresh()
    checkClock(clock, 'options.clock')
    this.#clock = clock
  }

  /**
   * Takes the next departure.
   *
   * @param cost how many requests it counts as, a whole number
   * @returns the milliseconds to wait, 0 for go now
   * @throws {PolicyError} if no layer could ever let `cost` go
   */
  acquire(cost = 1): number {
    const nowMs = this.#now(cost)
    if (!this.#isPlain(nowMs)) return this.#promise(nowMs, cost).departAtMs - nowMs
    const departMs = this.#stack.earliest(this.#cells, 0, nowMs, cost)
    this.#stack.charge(this.#cells, 0, departMs, cost)
    return departMs - nowMs
  }

  /** Takes a departure only if the request may go now. */
  tryAcquire(cost = 1): boolean {
    const nowMs = this.#now(cost)
    if (this.#earliest(nowMs, cost).departMs > nowMs) return false
    this.acquire(cost)
    return true
  }

  /** What `acquire` would find, and the layer that asks for the wait; takes nothing. */
  peek(cost = 1): { readonly waitMs: number; readonly layer: LayerName } {
    const nowMs = this.#now(cost)
    const { departMs, layer } = this.#earliest(nowMs, cost)
    return { waitMs: departMs - nowMs, layer }
  }

  /** Takes the next departure in a way that can be taken back. */
  reserve(cost = 1): Reservation {
    const nowMs = this.#now(cost)
    const lineBefore = this.#line
    const slot = this.#promise(nowMs, cost)
    return {
      waitMs: slot.departAtMs - nowMs,
      departAtMs: slot.departAtMs,
      layer: slot.layer,
      cancel: () => {
        // What it left is open to the next in line, who then stands where it stood.
        const isGivenBack = this.#book.giveBack(slot, this.#now(1))
        if (isGivenBack && lineBefore.fromMs < this.#line.fromMs) this.#line = lineBefore
      },
    }
  }

  #promise(nowMs: number, cost: number): Slot {
    const { departMs, layer } = this.#amongPromised(nowMs, cost)
    this.#line = { fromMs: departMs, layer }
    const slot: Slot = { departAtMs: departMs, order: 0, layer, cost, held: false }
    this.#book.add(slot)
    return slot
  }

  #earliest(nowMs: number, cost: number): { departMs: number; layer: LayerName } {
    if (!this.#isPlain(nowMs)) return this.#amongPromised(nowMs, cost)
    const departMs = this.#stack.earliest(this.#cells, 0, nowMs, cost)
    return { departMs, layer: this.#stack.binding }
  }

  #amongPromised(nowMs: number, cost: number): { departMs: number; layer: LayerName } {
    const { fromMs, layer } = this.#line
    return this.#book.earliest(this.#stack, this.#cells, 0, nowMs, cost, fromMs, layer)
  }

  /** Whether the cells alone say all, so that there are no promised slots to look out for. */
  #isPlain(nowMs: number): boolean {
    if (this.#book.isEmpty) return true
    this.#book.settle(this.#stack, this.#cells, 0, nowMs)
    return this.#book.isEmpty
  }

  #now(cost: number): number {
    checkCost(cost, this.#stack.maxCost)
    const nowMs = this.#clock.now()
    if (nowMs > this.#latestMs) this.#latestMs = nowMs
    return this.#latestMs
  }
}
