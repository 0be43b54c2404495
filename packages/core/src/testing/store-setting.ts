import assert from 'node:assert/strict'
import { Limits } from '../limits.ts'
import type { Policy } from '../policy.ts'
import type { Slot } from '../slot.ts'
import type { HostView, Leave, Store } from '../stores/store.ts'

/** How the store suite gets at a store. */
export interface StoreDriver {
  /**
   * Opens a store whose credit nobody has used yet, as two see it who share that credit: two connections, where the
   * store has such, else the same store twice.
   */
  open(): OpenStores | Promise<OpenStores>
}

/** What a store driver opens for one scenario. */
export interface OpenStores {
  readonly stores: readonly [Store, Store]
  /** The time of a caller in milliseconds, which runs as the store's does. */
  nowMs(): number
  /** Lets `ms` go by for the store and its callers. */
  advance(ms: number): void | Promise<void>
  close(): void | Promise<void>
}

interface LeaveOptions {
  cost?: number
  reportsSent?: boolean
}

/** One of those who share a store, with the policy that it has for one host. */
export class StoreCaller {
  readonly store: Store
  readonly host: number
  limits: Limits
  readonly #nowMs: () => number

  constructor(store: Store, policy: Policy, key: string, nowMs: () => number) {
    this.store = store
    this.host = store.hosts.find(key) ?? store.hosts.add(key)
    this.limits = new Limits(policy, 1000)
    this.#nowMs = nowMs
  }

  async leave({ cost = 1, reportsSent = false }: LeaveOptions = {}): Promise<Leave> {
    return this.store.leave(this.host, this.limits, cost, reportsSent, this.#nowMs())
  }

  async retry(slot: Slot, reportsSent = false): Promise<Leave> {
    return this.store.retry(this.host, this.limits, slot, reportsSent, this.#nowMs())
  }

  async reserve(afterMs = 0, cost = 1): Promise<{ slot: Slot; waitMs: number }> {
    const { nowMs, forecast } = await this.view()
    forecast.end()
    const slot = await this.store.reserve(this.host, this.limits, cost, nowMs + afterMs, this.#nowMs())
    return { slot, waitMs: slot.departAtMs - nowMs }
  }

  giveBack(slot: Slot): void {
    this.store.giveBack(this.host, this.limits, slot, this.#nowMs())
  }

  sent(slot?: Slot, cost = 1): void {
    this.store.sent(this.host, this.limits, slot, cost, this.#nowMs())
  }

  finish(): void {
    this.store.finish(this.host)
  }

  pause(forMs: number): void {
    this.store.pause(this.host, this.limits, forMs, this.#nowMs())
  }

  resume(): void {
    this.store.resume(this.host, this.limits, this.#nowMs())
  }

  adopt(policy: Policy, inFlight = 0): void {
    const former = this.limits
    this.limits = new Limits(policy, 1000)
    this.store.adopt(this.host, former, this.limits, inFlight, this.#nowMs())
  }

  async view(): Promise<HostView> {
    return this.store.view(this.host, this.limits, this.#nowMs())
  }

  /** How long the next request would wait. */
  async waitMs(cost = 1): Promise<number> {
    const { forecast, nowMs } = await this.view()
    const departMs = forecast.find(cost)
    forecast.end()
    return departMs - nowMs
  }

  /** Lets a request leave that may leave now. */
  async go(options: LeaveOptions = {}): Promise<Slot | undefined> {
    const leave = await this.leave(options)
    assert.equal(leave.kind, 'gone')
    return (leave as Leave & { kind: 'gone' }).slot
  }

  /** Asks for a request that has to wait. @returns its place */
  async promised(waitMs: number, options: LeaveOptions = {}): Promise<Slot> {
    const leave = await this.leave(options)
    assert.equal(leave.kind, 'promised')
    const promise = leave as Leave & { kind: 'promised' }
    assert.equal(promise.waitMs, waitMs)
    return promise.slot
  }
}
