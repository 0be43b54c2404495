import { Alarm } from './alarm.ts'
import { nonNegativeNumber, show } from './checks.ts'
import { type Clock, completeClock } from './clock.ts'
import { HostpaceError, PacerClosedError, PolicyError } from './errors.ts'
import { EventHub, type PacerEventName, type PacerListener } from './events.ts'
import { type Explanation, explain } from './explanation.ts'
import { HostPermit, type PermitIssuer } from './host-permit.ts'
import { HostQueue, type QueueOffice } from './host-queue.ts'
import { HostRecords } from './host-records.ts'
import type { PacerStats } from './host-stats.ts'
import type { LayerName } from './layers/layer.ts'
import { type Hold, holdAfter, isLimitAnswer } from './learning/hold.ts'
import { parseRetryAfter } from './learning/retry-after.ts'
import type { Limits } from './limits.ts'
import { KeyFinder } from './origin.ts'
import { outcomeOfError, outcomeOfResult } from './outcome.ts'
import type { PacerOptions, WaitOptions } from './pacer-options.ts'
import type { Outcome, Permit } from './permit.ts'
import type { Policy } from './policy.ts'
import { PolicyBook } from './policy-book.ts'
import type { Reservation } from './reservation.ts'
import type { Slot } from './slot.ts'
import { memoryStore } from './stores/memory-store.ts'
import type { HostView, Leave, Store } from './stores/store.ts'
import { checkWaitOptions, Waiter } from './waiter.ts'

/** What `peek` tells of a host. */
export interface Peek {
  /** Milliseconds until a request that is made now would leave, behind all who wait. */
  readonly waitMs: number
  /** Which layer asks for that wait. */
  readonly layer: LayerName
  readonly queued: number
  readonly inFlight: number
}

const noOptions: WaitOptions = {}

/** How long a host is remembered after it has recovered, so that its figures can still be read. */
const keepRecoveredMs = 60_000

/** Marks pacers, also those of another copy of this package. */
const pacerMark = Symbol.for('hostpace.pacer')

/**
 * The limiters of all hosts, keyed by request origin, with their queues. Clients of every kind share one,
 * so that a host sees one pace whoever asks.
 *
 * Make one with `createPacer`.
 */
export class Pacer implements PermitIssuer, QueueOffice {
  /** @internal */
  readonly store: Store
  /** @internal */
  readonly alarm: Alarm
  readonly #clock: Required<Clock>
  readonly #keys: KeyFinder
  readonly #policies: PolicyBook
  readonly #records: HostRecords
  readonly #events = new EventHub()
  readonly #learns: boolean
  readonly #ownsStore: boolean
  readonly #lookups = new Map<number, Promise<Limits>>()
  #sweptAtMs: number
  #isClosed = false

  /** @throws {PolicyError} if an option makes no sense */
  constructor(options: PacerOptions = {}) {
    Object.defineProperty(this, pacerMark, { value: true })
    this.#keys = new KeyFinder(options.keyBy)
    this.#policies = new PolicyBook(options, this.#keys)
    this.#clock = completeClock(options.clock)
    this.#learns = options.adapt !== false
    this.#ownsStore = options.store === undefined
    this.store = options.store ?? memoryStore()
    this.alarm = new Alarm(this.#clock)
    this.#records = new HostRecords(this.store.hosts, (key) => this.#policies.forget(key))
    this.#sweptAtMs = this.#clock.now()
  }

  /**
   * Resolves when the request may leave; first come, first served within a priority.
   *
   * It rejects with exactly `signal.reason` when the signal is aborted, with a `TypeError` if `url` is not a
   * URL with a host, with `PolicyError` for an option that makes no sense, and with `QueueFullError`,
   * `WaitTooLongError`, `RateLimitedError`, `PacerClosedError` or `StoreError`. A request that is
   * rejected takes nothing.
   */
  wait(url: string | URL, options: WaitOptions = noOptions): Promise<Permit> {
    try {
      return this.#wait(options.key ?? this.#keys.keyOf(url, options.request), options)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /**
   * Reserves a departure without sleeping, behind all who wait. For schedulers, which put the URL off and work on
   * another host meanwhile; hand the reservation to `wait`, or to an adapter, when its time has come.
   */
  async reserve(url: string | URL, { cost = 1, key }: Pick<WaitOptions, 'cost' | 'key'> = noOptions): Promise<Reservation> {
    const { host, limits } = await this.#ready(url, key)
    checkWaitOptions({ cost }, limits.stack.maxCost)
    const view = await this.store.view(host, limits, this.now())
    const lastMs = this.#lineUp(host, view)
    const nowMs = this.now()
    const slot = await this.store.reserve(host, limits, cost, lastMs, nowMs)
    const waitMs = slot.departAtMs - view.nowMs
    view.forecast.end()
    return {
      waitMs,
      departAtMs: nowMs + waitMs,
      layer: waitMs > 0 && slot.layer === 'none' ? view.forecast.binding : slot.layer,
      cancel: () => {
        this.store.giveBack(host, limits, slot, this.now())
        this.#records.queues[host]?.recheck()
      },
    }
  }

  /** When a request that is made now would leave. Takes nothing. */
  async peek(url: string | URL): Promise<Peek> {
    const { host, limits } = await this.#ready(url)
    return this.#peek(host, await this.store.view(host, limits, this.now()))
  }

  /**
   * Waits, calls `fn`, observes how it ended and frees the permit.
   *
   * A result, or an error's `response`, that has a status and headers is observed as the response. What `fn`
   * throws is rethrown as it is.
   */
  async run<T>(url: string | URL, fn: (permit: Permit) => T | Promise<T>, options?: WaitOptions): Promise<T> {
    const permit = await this.wait(url, options)
    try {
      const result = await fn(permit)
      permit.done(outcomeOfResult(result))
      return result
    } catch (error) {
      permit.done(outcomeOfError(error))
      throw error
    }
  }

  /** Learns from an answer that did not come through a permit. */
  observe(url: string | URL, outcome: Outcome): void {
    const key = this.#keys.keyOf(url)
    this.#observe(this.#hostOf(key), key, outcome, this.now() - (outcome.latencyMs ?? 0))
  }

  /** Holds a host for `ms` from now on; the longest of several pauses wins. It restarts gently. */
  pause(url: string | URL, ms: number, reason = 'paused by the program'): void {
    nonNegativeNumber(ms, 'ms')
    const host = this.#hostOf(this.#keys.keyOf(url))
    const hold = this.#records.holds.get(host)
    const untilMs = this.now() + ms
    if (hold === undefined || hold.untilMs < untilMs) this.#hold(host, { untilMs, unhinted: hold?.unhinted ?? 0, reason })
  }

  /** Ends the hold on a host, whoever asked for it. It restarts gently. */
  resume(url: string | URL): void {
    const host = this.#hostOf(this.#keys.keyOf(url))
    const hold = this.#records.holds.get(host)
    const nowMs = this.now()
    if (hold !== undefined) this.#records.holds.set(host, { ...hold, untilMs: Math.min(hold.untilMs, nowMs) })
    this.#withLimits(host, (limits) => {
      this.store.resume(host, limits, nowMs)
      this.#tellPause(host, 0, 'resumed')
      this.#records.queues[host]?.recheck()
    })
  }

  /**
   * Changes the policy of a host, or with `undefined` the one for all hosts: each field that is given replaces
   * the present one. Those who wait follow the new limits at once, and what has been used stays used.
   *
   * @throws {PolicyError} if the policy makes no sense; nothing has changed then
   */
  update(url: string | URL | undefined, policy: Policy): void {
    const key = url === undefined ? undefined : this.#keys.keyOf(url)
    this.#policies.update(key, policy)
    for (const [known, host] of this.store.hosts.entries()) {
      const former = this.#records.limits[host]
      if (former === undefined || (key !== undefined && key !== known)) continue
      const limits = this.#policies.limitsOf(known) as Limits
      if (limits === former) continue
      this.store.adopt(host, former, limits, this.now())
      this.#records.limits[host] = limits
      this.#records.queues[host]?.recheck()
    }
  }

  /** Which layers apply to a host, where each came from, what credit is left and when the next request may leave. */
  async explain(url: string | URL): Promise<Explanation> {
    const { key, host, limits } = await this.#ready(url)
    const view = await this.store.view(host, limits, this.now())
    const reason = this.#records.holds.get(host)?.reason ?? 'paused'
    return explain(key, limits, view, this.#peek(host, view), reason, (field) => this.#policies.sourceOf(key, field))
  }

  /** What has happened so far, by host and all together. */
  stats(): PacerStats {
    this.#sweepSometimes()
    return this.#records.stats(this.now())
  }

  /** Forgets the hosts that have recovered all of their credit and have nothing queued, in flight or learned. */
  sweep(): void {
    this.store.hosts.sweep(this.now())
  }

  /** Calls `listener` at every event of this name. @returns a function that ends it */
  on<Name extends PacerEventName>(name: Name, listener: PacerListener<Name>): () => void {
    return this.#events.on(name, listener)
  }

  /** Rejects all who wait with `PacerClosedError`, and closes the store if the pacer made it. Safe to call twice. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const queue of this.#records.queues) queue?.close(new PacerClosedError())
    this.store.hosts.leave(this.#records)
    if (this.#ownsStore) await this.store.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** @internal */
  now(): number {
    return this.#clock.now()
  }

  /** @internal */
  limitsOf(host: number): Limits | undefined {
    return this.#records.limits[host]
  }

  /** @internal */
  admitted(waiter: Waiter, host: number, slot: Slot | undefined, layer: LayerName, nowMs: number): void {
    const waitedMs = nowMs - waiter.sinceMs
    waiter.admit(this.#permit(host, slot, waiter.cost, nowMs, waitedMs, waitedMs > 0 ? layer : 'none'))
  }

  /** @internal */
  refused(waiter: Waiter, host: number, error: unknown, nowMs: number): void {
    if (error instanceof HostpaceError && !(error instanceof PacerClosedError)) this.#records.refused(host)
    if (this.#events.has('reject')) {
      this.#events.emit('reject', { key: this.store.hosts.keyOf(host), waitedMs: nowMs - waiter.sinceMs, error })
    }
    waiter.refuse(error)
  }

  /** @internal */
  waiting(host: number, waitMs: number, layer: LayerName, queued: number): void {
    if (this.#events.has('wait')) {
      this.#events.emit('wait', { key: this.store.hosts.keyOf(host), waitMs, layer, queued })
    }
  }

  /** @internal */
  emptied(host: number): void {
    this.#records.queues[host] = undefined
  }

  /** @internal */
  permitSent(permit: HostPermit): void {
    const nowMs = this.now()
    permit.departedAtMs = nowMs
    this.store.sent(permit.host, permit.limits, permit.slot, permit.cost, nowMs)
    this.#records.queues[permit.host]?.recheck()
  }

  /** @internal */
  permitObserved(permit: HostPermit, outcome: Outcome): void {
    this.#observe(permit.host, permit.key, outcome, permit.departedAtMs)
  }

  /** @internal */
  permitUnused(permit: HostPermit): void {
    this.store.giveBack(permit.host, permit.limits, permit.slot as Slot, this.now())
  }

  /** @internal */
  permitDone({ host, limits }: HostPermit): void {
    this.#records.inFlight[host] = (this.#records.inFlight[host] as number) - 1
    if (Number.isFinite(limits.concurrency)) this.store.finish(host)
    this.#records.queues[host]?.recheck()
  }

  #wait(key: string, options: WaitOptions): Promise<Permit> {
    if (this.#isClosed) throw new PacerClosedError()
    if (options.signal?.aborted) return Promise.reject(options.signal.reason)
    const host = this.#hostOf(key)
    const limits = this.#records.limits[host] ?? this.#lookUp(host, key)
    if (options !== noOptions) checkWaitOptions(options, limits?.stack.maxCost ?? Number.POSITIVE_INFINITY)
    options.reservation?.cancel()
    const { cost = 1, reportsSent = false } = options
    const nowMs = this.now()
    const queue = this.#records.queues[host]
    let leave: Leave | Promise<Leave> | undefined
    if (queue === undefined && limits !== undefined) {
      leave = this.store.leave(host, limits, cost, reportsSent, nowMs)
      if ('kind' in leave && leave.kind === 'gone') {
        return Promise.resolve(this.#permit(host, leave.slot, cost, nowMs, 0, 'none'))
      }
    }
    const line = queue ?? this.#openQueue(host, key)
    const waiter = new Waiter(line, options, nowMs)
    line.enqueue(waiter, leave)
    return waiter.promise
  }

  #permit(host: number, slot: Slot | undefined, cost: number, nowMs: number, waitedMs: number, layer: LayerName): Permit {
    const key = this.store.hosts.keyOf(host)
    const limits = this.#records.limits[host] as Limits
    this.#records.departed(host, waitedMs, layer)
    if (this.#events.has('depart')) this.#events.emit('depart', { key, waitedMs, layer, cost })
    return new HostPermit(this, key, host, limits, slot, cost, nowMs, waitedMs, layer)
  }

  #openQueue(host: number, key: string): HostQueue {
    const queue = new HostQueue(this, host, key)
    this.#records.queues[host] = queue
    return queue
  }

  #hostOf(key: string): number {
    const known = this.store.hosts.find(key)
    const host = known ?? this.#newHost(key)
    this.#records.welcome(host)
    return host
  }

  #newHost(key: string): number {
    this.#sweepSometimes()
    return this.store.hosts.add(key)
  }

  #sweepSometimes(): void {
    const nowMs = this.now()
    if (nowMs - this.#sweptAtMs < keepRecoveredMs) return
    this.#sweptAtMs = nowMs
    this.store.hosts.sweep(nowMs - keepRecoveredMs)
  }

  /** The limits of a host met for the first time, if they are known at once; else those who wait are told later. */
  #lookUp(host: number, key: string): Limits | undefined {
    if (this.#lookups.has(host)) return undefined
    const limits = this.#policies.limitsOf(key)
    if (!(limits instanceof Promise)) {
      this.#records.limits[host] = limits
      return limits
    }
    this.#lookups.set(host, limits)
    limits.then(
      (found) => {
        this.#lookups.delete(host)
        this.#records.limits[host] = found
        this.#records.queues[host]?.recheck()
      },
      (error) => {
        this.#lookups.delete(host)
        this.#records.queues[host]?.close(error)
      },
    )
    return undefined
  }

  /** Calls `fn` with the limits of a host, at once if they are known. A failed look-up is told to those who wait. */
  #withLimits(host: number, fn: (limits: Limits) => void): void {
    const limits = this.#records.limits[host] ?? this.#lookUp(host, this.store.hosts.keyOf(host))
    if (limits !== undefined) fn(limits)
    else this.#lookups.get(host)?.then(fn, () => {})
  }

  async #ready(url: string | URL, ownKey?: string): Promise<{ key: string; host: number; limits: Limits }> {
    if (this.#isClosed) throw new PacerClosedError()
    const key = ownKey ?? this.#keys.keyOf(url)
    const host = this.#hostOf(key)
    const limits = this.#records.limits[host] ?? this.#lookUp(host, key) ?? (await (this.#lookups.get(host) as Promise<Limits>))
    return { key, host, limits }
  }

  /** Lets all who wait depart in a forecast. @returns when the last of them does */
  #lineUp(host: number, { forecast, nowMs }: HostView): number {
    let lastMs = nowMs
    for (const cost of this.#records.queues[host]?.costsWithoutSlot() ?? []) lastMs = forecast.next(cost)
    return lastMs
  }

  #peek(host: number, view: HostView): Peek {
    this.#lineUp(host, view)
    const waitMs = view.forecast.find(1) - view.nowMs
    const layer = view.forecast.binding
    view.forecast.end()
    return {
      waitMs,
      layer: waitMs === 0 && view.inFlight >= (this.#records.limits[host]?.concurrency ?? 0) ? 'concurrency' : layer,
      queued: this.#records.queues[host]?.size ?? 0,
      inFlight: this.#records.inFlight[host] as number,
    }
  }

  #observe(host: number, key: string, outcome: Outcome, departedAtMs: number): void {
    const { status } = outcome
    const retryAfterMs = status === undefined ? undefined : parseRetryAfter(outcome.headers, this.#clock.wallNow())
    if (this.#events.has('observe')) {
      const limited = status !== undefined && isLimitAnswer(status, retryAfterMs)
      this.#events.emit('observe', { ...outcome, key, limited })
    }
    if (!this.#learns || status === undefined) return
    const hold = this.#records.holds.get(host)
    const next = holdAfter(hold, { status, retryAfterMs, departedAtMs }, this.now())
    if (next !== undefined && next !== hold) this.#hold(host, next)
  }

  #hold(host: number, hold: Hold): void {
    this.#records.holds.set(host, hold)
    this.#withLimits(host, (limits) => {
      const nowMs = this.now()
      this.store.pause(host, limits, Math.max(0, hold.untilMs - nowMs), nowMs)
      this.#tellPause(host, hold.untilMs - nowMs, hold.reason)
      this.#records.queues[host]?.recheck()
    })
  }

  #tellPause(host: number, waitMs: number, reason: string): void {
    if (!this.#events.has('pause')) return
    this.#events.emit('pause', { key: this.store.hosts.keyOf(host), waitMs, reason, layer: 'pause' })
  }
}

/**
 * Makes a pacer. With no options nothing is declared: every host is unknown and gets one request per
 * second.
 *
 * ```ts
 * const pacer = createPacer({
 *   rate: '5r/s',
 *   hosts: { 'https://api.github.com': { rate: '80r/m', quotas: [{ limit: 5000, windowMs: 3_600_000 }] } },
 * })
 * ```
 *
 * @throws {PolicyError} if an option makes no sense; its `path` names it
 */
export function createPacer(options?: PacerOptions): Pacer {
  return new Pacer(options)
}

/** What adapters take: a pacer, which passes as it is, or the options to make one. */
export function toPacer(pacerOrOptions: Pacer | PacerOptions = {}): Pacer {
  return isPacer(pacerOrOptions) ? pacerOrOptions : createPacer(pacerOrOptions)
}

function isPacer(value: Pacer | PacerOptions): value is Pacer {
  if (typeof value !== 'object' || value === null) throw new PolicyError('options', `must be a pacer or options, got ${show(value)}`)
  return pacerMark in value
}
