import { Alarm } from './alarm.ts'
import { type AsyncScope, keepScope } from './async-hooks.ts'
import { checkCost } from './checks.ts'
import type { Clock } from './clock.ts'
import { HostpaceError, PacerClosedError, StoreError } from './errors.ts'
import type { EventHub } from './events.ts'
import { HostPermit, type PermitIssuer } from './host-permit.ts'
import { HostQueue, type QueueOffice } from './host-queue.ts'
import { HostRecords } from './host-records.ts'
import { HostReservation } from './host-reservation.ts'
import type { LayerName } from './layers/layer.ts'
import type { Learned } from './learning/learned.ts'
import type { Observation } from './learning/learning.ts'
import type { Limits } from './limits.ts'
import type { WaitOptions } from './pacer-options.ts'
import type { Outcome, Permit } from './permit.ts'
import type { PolicyBook } from './policy-book.ts'
import type { PolicyLookup } from './policy-lookup.ts'
import type { Reservation } from './reservation.ts'
import type { Slot } from './slot.ts'
import { type Answer, answerOf, type Leave, type Store } from './stores/store.ts'
import { checkWaitOptions, Waiter } from './waiter.ts'

/** How long a host is remembered after it has recovered, so that its figures can still be read. */
const keepRecoveredMs = 60_000

/** Hears what the answers to permitted requests say. */
export type OutcomeListener = (host: number, observation: Observation) => void

/** How long a policy is kept that could not be looked up again. */
const keepStaleMs = 60_000

/**
 * Where requests are let go: it asks the store, and keeps the queues and the records of the hosts.
 *
 * The `Pacer` is its front; here hosts go by their numbers.
 */
export class Desk implements PermitIssuer, QueueOffice {
  readonly store: Store
  readonly alarm: Alarm
  readonly records: HostRecords
  readonly events: EventHub
  readonly #clock: Required<Clock>
  readonly #policies: PolicyBook
  readonly #onOutcome: OutcomeListener
  readonly #lookupOf: (host: number) => PolicyLookup
  readonly #divert: (waiter: Waiter, key: string) => boolean
  /** Lines of those who come with a slot. */
  readonly #ownLines = new Set<HostQueue>()
  /** How many have come so far; what was promised to those who came later makes room for those before. */
  #arrivals = 0
  #sweptAtMs: number
  #isClosed = false
  #hasStoreFailed = false
  /** Ends the look-ups that are under way. */
  readonly #lookupEnds = new Set<(error: unknown) => void>()

  constructor(
    store: Store,
    policies: PolicyBook,
    events: EventHub,
    clock: Required<Clock>,
    onOutcome: OutcomeListener,
    lookupOf: (host: number) => PolicyLookup,
    onForget: (key: string) => void,
    divert: (waiter: Waiter, key: string) => boolean,
  ) {
    this.store = store
    this.events = events
    this.alarm = new Alarm(clock)
    this.records = new HostRecords(store.hosts, {
      forgotten: (key) => {
        policies.forget(key)
        onForget(key)
      },
      taught: (host, learned) => this.#taught(host, learned),
      failed: (host, error) => this.#tellFailure(host, error),
    })
    this.#clock = clock
    this.#policies = policies
    this.#onOutcome = onOutcome
    this.#lookupOf = lookupOf
    this.#divert = divert
    this.#sweptAtMs = clock.now()
  }

  now(): number {
    return this.#clock.now()
  }

  /**
   * Lets a request go, or lines it up. It throws where it refuses at once.
   *
   * @param beganAtMs when it began to wait for something before its host. @default now
   * @param lane the permit of its resource, if it has one
   */
  wait(
    key: string,
    options: WaitOptions,
    url?: string | URL,
    beganAtMs?: number,
    lane?: HostPermit,
  ): Promise<HostPermit> {
    if (this.#isClosed) throw new PacerClosedError()
    if (options.signal?.aborted === true) return Promise.reject(options.signal.reason)
    const host = this.hostOf(key)
    this.#renewIfStale(host, key)
    const limits = this.records.limits[host] ?? this.#lookUp(host, key)
    checkWaitOptions(options, limits?.stack.maxCost ?? Number.POSITIVE_INFINITY)
    const { cost = 1, reportsSent = false } = options
    const nowMs = this.now()
    const sinceMs = beganAtMs ?? nowMs
    this.#arrivals++
    const reserved = this.#claim(host, cost, options.reservation)
    if (reserved !== undefined && limits !== undefined) {
      return this.#waitForSlot(reserved, host, limits, options, nowMs, sinceMs, url, lane)
    }
    const queue = this.records.queues[host]
    let leave: Leave | Promise<Leave> | undefined
    if (queue === undefined && limits !== undefined) {
      leave = answerOf(() => this.store.leave(host, limits, cost, reportsSent, nowMs, this.#arrivals))
      if ('kind' in leave && leave.kind === 'gone') {
        const slot = reportsSent ? leave.slot : undefined
        return Promise.resolve(this.#permit(host, slot, cost, nowMs, nowMs - sinceMs, 'none', url, lane))
      }
    }
    return this.#lineUp(queue ?? this.#openQueue(host, key), options, sinceMs, leave, url, lane)
  }

  /** Lets a look-up ask a host, by what is known without it and in a line of its own. */
  waitForLookup(key: string, signal: AbortSignal | undefined): Promise<Permit> {
    if (this.#isClosed) return Promise.reject(new PacerClosedError())
    if (signal?.aborted === true) return Promise.reject(signal.reason)
    const host = this.hostOf(key)
    const limits = this.records.limits[host] ?? this.#provisionalOf(host, key)
    this.#applyHold(host, limits)
    this.#arrivals++
    return this.#lineUp(this.#openOwnLine(host, limits), { signal, reportsSent: true }, this.now())
  }

  /** Reserves a departure behind all who wait. */
  async reserve(key: string, cost: number): Promise<Reservation> {
    const { host, limits } = await this.ready(key)
    checkCost(cost, limits.stack.maxCost)
    const view = await this.store.view(host, limits, this.now())
    if (this.#isClosed) throw new PacerClosedError()
    this.records.queues[host]?.lineUp(view.forecast)
    const behindMs = view.forecast.find(cost)
    view.forecast.end()
    const nowMs = this.now()
    const slot = await this.store.reserve(host, limits, cost, behindMs, nowMs, ++this.#arrivals)
    this.records.queues[host]?.overtaken()
    const waitMs = slot.departAtMs - view.nowMs
    // Where it only waits for those before it, their layer is its own.
    const layer = waitMs > 0 && slot.layer === 'none' ? view.forecast.binding : slot.layer
    return new HostReservation(this, host, slot, { waitMs, departAtMs: nowMs + waitMs, layer }, () => {
      this.store.giveBack(host, limits, slot, this.now())
      this.store.hosts.freed(host)
    })
  }

  /** The number and the limits of a host, once they are known. */
  async ready(key: string): Promise<{ host: number; limits: Limits }> {
    if (this.#isClosed) throw new PacerClosedError()
    const host = this.hostOf(key)
    this.#renewIfStale(host, key)
    const limits =
      this.records.limits[host] ??
      this.#lookUp(host, key) ??
      (await (this.records.lookups.get(host) as Promise<Limits>))
    return { host, limits }
  }

  /** Calls `fn` with the limits of a host, at once if they are known. A failed look-up is told to those who wait. */
  withLimits(host: number, fn: (limits: Limits) => void): void {
    const limits = this.records.limits[host] ?? this.#lookUp(host, this.store.hosts.keyOf(host))
    if (limits !== undefined) fn(limits)
    else this.records.lookups.get(host)?.then(fn, () => {})
  }

  /** Gives the hosts concerned their new limits; what has been used stays used. */
  renewLimits(onlyKey: string | undefined): void {
    for (const [key, host] of this.store.hosts.entries()) {
      const former = this.records.limits[host]
      if (former === undefined || (onlyKey !== undefined && onlyKey !== key)) continue
      const known = this.#policies.knownLimitsOf(key)
      const limits = former.learns ? this.#policies.learning(known) : known
      if (limits === former) continue
      this.#setLimits(host, former, limits)
      this.#applyLearned(host)
      this.store.hosts.changed(host)
    }
  }

  /**
   * Paces a host by what was learned of it.
   *
   * @param asksForMore whether those who wait may have to wait longer
   */
  learn(host: number, learned: Learned, asksForMore: boolean): void {
    this.records.learned.set(host, learned)
    this.withLimits(host, () => {
      this.#applyLearned(host)
      if (asksForMore) this.store.hosts.changed(host)
      else this.store.hosts.freed(host)
    })
  }

  /** Another process has learned something of a host, and the store knows it already. */
  #taught(host: number, learned: Learned): void {
    this.records.learned.set(host, learned)
    const limits = this.records.limits[host]
    if (limits === undefined) return
    this.#setLimits(host, limits, this.#policies.learning(limits))
    this.store.hosts.changed(host)
  }

  #applyLearned(host: number): void {
    const learned = this.records.learned.get(host)
    if (learned === undefined) return
    const limits = this.records.limits[host] as Limits
    const wider = this.#policies.learning(limits)
    this.#setLimits(host, limits, wider)
    this.store.learn(host, wider, learned, this.now())
  }

  /** Gives a host its limits; what was used under others stays used. */
  #setLimits(host: number, former: Limits | undefined, limits: Limits): void {
    if (former !== undefined && former !== limits) {
      this.store.adopt(host, former, limits, this.records.inFlight[host] as number, this.now())
    }
    this.records.limits[host] = limits
  }

  /** Rejects all who wait, and any who come. @returns whether it was open */
  close(): boolean {
    if (this.#isClosed) return false
    this.#isClosed = true
    for (const end of this.#lookupEnds) end(new PacerClosedError())
    for (const queue of [...this.records.queues, ...this.#ownLines]) queue?.close(new PacerClosedError())
    this.#leaveWhenIdle()
    return true
  }

  /** The number of a host, which it gets if it has none. */
  hostOf(key: string): number {
    const known = this.store.hosts.find(key)
    const host = known ?? this.#newHost(key)
    this.records.welcome(host)
    return host
  }

  /** Forgets, once in a while, the hosts of which there is nothing left to remember. */
  sweepSometimes(): void {
    const nowMs = this.now()
    if (nowMs - this.#sweptAtMs < keepRecoveredMs) return
    this.#sweptAtMs = nowMs
    this.store.hosts.sweep(nowMs - keepRecoveredMs)
  }

  limitsOf(host: number): Limits | undefined {
    return this.records.limits[host]
  }

  /** The limits of a host by what is known of it at present. */
  knownLimitsOf(host: number): Limits {
    return this.records.limits[host] ?? this.#policies.knownLimitsOf(this.store.hosts.keyOf(host))
  }

  admitted(waiter: Waiter, host: number, departure: Slot | undefined, layer: LayerName): void {
    const nowMs = this.now()
    const waitedMs = nowMs - waiter.sinceMs
    // Whoever does not report the moment of sending has departed, and has nothing to give back.
    const slot = waiter.reportsSent ? departure : undefined
    const { cost, url, lane, scope } = waiter
    waiter.admit(this.#permit(host, slot, cost, nowMs, waitedMs, waitedMs > 0 ? layer : 'none', url, lane, scope))
  }

  refused(waiter: Waiter, host: number, error: unknown, nowMs: number): void {
    if (error instanceof HostpaceError && !(error instanceof PacerClosedError)) this.records.refused(host)
    if (this.events.has('reject')) {
      const key = this.store.hosts.keyOf(host)
      this.events.emit('reject', { key, waitedMs: nowMs - waiter.sinceMs, error }, waiter.scope)
    }
    waiter.refuse(error)
  }

  divert(waiter: Waiter, host: number): boolean {
    return this.#divert(waiter, this.store.hosts.keyOf(host))
  }

  /** A request that has come at `sinceMs` was refused before it came to its host. */
  refusedBefore(key: string, error: unknown, sinceMs: number): void {
    if (!(error instanceof PacerClosedError)) this.records.refused(this.hostOf(key))
    if (this.events.has('reject')) this.events.emit('reject', { key, waitedMs: this.now() - sinceMs, error })
  }

  waiting(host: number, waitMs: number, layer: LayerName, queued: number): void {
    if (this.events.has('wait')) {
      this.events.emit('wait', { key: this.store.hosts.keyOf(host), waitMs, layer, queued })
    }
  }

  emptied(host: number, queue: HostQueue): void {
    if (this.records.queues[host] === queue) this.records.queues[host] = undefined
    else this.#ownLines.delete(queue)
  }

  storeFailed(host: number, cause: unknown): StoreError {
    const error = cause instanceof StoreError ? cause : new StoreError('The store of the credit failed', { cause })
    // An episode ends with the next request that is let go.
    const isNews = !this.#hasStoreFailed
    this.#hasStoreFailed = true
    if (isNews) this.#tellFailure(host, error)
    return error
  }

  #tellFailure(host: number, error: unknown): void {
    if (this.events.has('store-error')) {
      this.events.emit('store-error', { key: this.store.hosts.keyOf(host), error: error as StoreError })
    }
  }

  permitSent(permit: HostPermit): void {
    const nowMs = this.now()
    permit.departedAtMs = nowMs
    this.store.sent(permit.host, this.#limitsOf(permit), permit.slot, permit.cost, nowMs)
    // Those who wait need not be told: nothing has come free, and whoever's time comes asks again.
  }

  permitObserved(permit: HostPermit, outcome: Outcome): void {
    const { host, departedAtMs, url, lane } = permit
    this.#onOutcome(host, { outcome, departedAtMs, outstanding: this.departedAfter(permit), url, lane })
  }

  /** How many requests have departed after one. */
  departedAfter({ host, index }: HostPermit): number {
    return this.records.departures(host) - index
  }

  permitUnused(permit: HostPermit): void {
    this.store.giveBack(permit.host, this.#limitsOf(permit), permit.slot as Slot, this.now())
    this.store.hosts.freed(permit.host)
  }

  permitDone(permit: HostPermit): void {
    const { host } = permit
    this.records.inFlight[host] = (this.records.inFlight[host] as number) - 1
    if (this.#limitsOf(permit).isBounded) {
      this.store.finish(host)
      this.store.hosts.freed(host)
    }
    if (this.#isClosed) this.#leaveWhenIdle()
  }

  /** The present limits of a host in flight, which is not forgotten. */
  #limitsOf({ host }: HostPermit): Limits {
    return (this.records.limits[host] ?? this.records.provisional.get(host)) as Limits
  }

  #provisionalOf(host: number, key: string): Limits {
    const limits = this.records.provisional.get(host) ?? this.#policies.knownLimitsOf(key)
    this.records.provisional.set(host, limits)
    return limits
  }

  /** As long as permits are out, nobody else on the store may forget their hosts. */
  #leaveWhenIdle(): void {
    if (this.records.inFlight.every((count) => count === 0)) this.store.hosts.leave(this.records)
  }

  #permit(
    host: number,
    slot: Slot | undefined,
    cost: number,
    nowMs: number,
    waitedMs: number,
    hostLayer: LayerName,
    url: string | URL | undefined,
    lane: HostPermit | undefined,
    scope?: AsyncScope,
  ): HostPermit {
    const key = this.store.hosts.keyOf(host)
    const layer = lane !== undefined && lane.waitedMs * 2 > waitedMs ? lane.layer : hostLayer
    this.#hasStoreFailed = false
    this.records.departed(host, waitedMs, layer)
    if (this.events.has('depart')) this.events.emit('depart', { key, waitedMs, layer, cost }, scope)
    const index = this.records.departures(host)
    const permit = new HostPermit(this, key, host, index, slot, cost, nowMs, waitedMs, layer, url, lane)
    // Who does not say when it is sent has been by now.
    if (slot === undefined) lane?.sent()
    return permit
  }

  #lineUp(
    queue: HostQueue,
    options: WaitOptions,
    sinceMs: number,
    leave?: Answer<Leave>,
    url?: string | URL,
    lane?: HostPermit,
  ): Promise<HostPermit> {
    const scope = this.events.has('depart') || this.events.has('reject') ? keepScope() : undefined
    const waiter = new Waiter(queue, options, sinceMs, this.#arrivals, url, lane, scope)
    queue.enqueue(waiter, leave)
    return waiter.promise
  }

  /** Who has a slot already waits for it alone, in a line of his own, and not behind those who have none. */
  #waitForSlot(
    { slot, departAtMs }: HostReservation,
    host: number,
    limits: Limits,
    options: WaitOptions,
    nowMs: number,
    sinceMs: number,
    url: string | URL | undefined,
    lane: HostPermit | undefined,
  ): Promise<HostPermit> {
    const queue = this.#openOwnLine(host)
    const leave: Answer<Leave> =
      departAtMs > nowMs
        ? { kind: 'promised', slot, waitMs: departAtMs - nowMs }
        : answerOf(() => this.store.retry(host, limits, slot, options.reportsSent ?? false, nowMs))
    return this.#lineUp(queue, options, sinceMs, leave, url, lane)
  }

  /** The reservation of a request, if its slot can be used for it; else it is given back. */
  #claim(host: number, cost: number, reservation: Reservation | undefined): HostReservation | undefined {
    if (reservation === undefined) return undefined
    const isOurs = reservation instanceof HostReservation && reservation.desk === this
    if (isOurs && reservation.host === host && reservation.slot.cost === cost) {
      return reservation.claim() ? reservation : undefined
    }
    reservation.cancel()
    return undefined
  }

  #openOwnLine(host: number, limits?: Limits): HostQueue {
    const queue = new HostQueue(this, host, this.store.hosts.keyOf(host), limits)
    this.#ownLines.add(queue)
    return queue
  }

  #openQueue(host: number, key: string): HostQueue {
    const queue = new HostQueue(this, host, key)
    this.records.queues[host] = queue
    return queue
  }

  #newHost(key: string): number {
    this.sweepSometimes()
    return this.store.hosts.add(key)
  }

  /** The limits of a host met for the first time, if they are known at once; else those who wait are told later. */
  #lookUp(host: number, key: string): Limits | undefined {
    if (this.records.lookups.has(host)) return undefined
    const limits = this.#policies.limitsOf(key, () => this.#lookupOf(host))
    if (!(limits instanceof Promise)) return this.#learnLimits(host, limits)
    let end: (error: unknown) => void = () => {}
    const known = new Promise<Limits>((resolve, reject) => {
      end = reject
      limits.then((found) => this.#learnLimits(host, found)).then(resolve, reject)
    })
    this.#lookupEnds.add(end)
    this.records.lookups.set(host, known)
    known
      .finally(() => {
        this.#lookupEnds.delete(end)
        this.records.lookups.delete(host)
      })
      .then(
        () => this.records.queues[host]?.limitsKnown(),
        (error) => this.records.queues[host]?.close(error),
      )
    return undefined
  }

  /** A pause may have been asked for before the limits were known. */
  #applyHold(host: number, limits: Limits): void {
    const nowMs = this.now()
    const heldMs = (this.records.holds.get(host)?.untilMs ?? nowMs) - nowMs
    if (heldMs > 0) this.store.pause(host, limits, heldMs, nowMs)
  }

  /** Looks a policy up again whose time is over. Until it is known the present one holds. */
  #renewIfStale(host: number, key: string): void {
    const staleAtMs = this.records.staleAtMs.get(host)
    if (staleAtMs === undefined || this.now() < staleAtMs) return
    this.records.staleAtMs.delete(host)
    const limits = this.#policies.lookUp(key, this.#lookupOf(host))
    if (limits instanceof Promise) {
      limits.then(
        () => this.renewLimits(key),
        () => this.records.staleAtMs.set(host, this.now() + keepStaleMs),
      )
    } else this.renewLimits(key)
  }

  #learnLimits(host: number, limits: Limits): Limits {
    this.#setLimits(host, this.records.provisional.get(host), limits)
    this.records.provisional.delete(host)
    this.#applyHold(host, limits)
    this.#applyLearned(host)
    return this.records.limits[host] as Limits
  }
}
