import { abortable } from './abort-watch.ts'
import { inTime } from './alarm.ts'
import { runIn } from './async-hooks.ts'
import { aFunction, anyObject, nonNegativeNumber, plainFields, show } from './checks.ts'
import { type Clock, checkClock, completeClock } from './clock.ts'
import { Desk } from './desk.ts'
import { PolicyError, WaitTooLongError } from './errors.ts'
import { EventHub, type PacerEventName, type PacerListener } from './events.ts'
import { type Explanation, explain } from './explanation.ts'
import type { HostPermit } from './host-permit.ts'
import type { PacerStats } from './host-stats.ts'
import type { LayerName } from './layers/layer.ts'
import type { LimitAnswer } from './learning/hold.ts'
import { Holds } from './learning/holds.ts'
import { Lanes } from './learning/lanes.ts'
import type { Learned, PublishedLimit } from './learning/learned.ts'
import { Learning } from './learning/learning.ts'
import type { RateLimitPolicy } from './learning/rate-limit.ts'
import type { Limits } from './limits.ts'
import { KeyFinder } from './origin.ts'
import { checkOutcome, outcomeOfError, outcomeOfResult } from './outcome.ts'
import type { PacerOptions, WaitOptions } from './pacer-options.ts'
import type { Outcome, Permit } from './permit.ts'
import type { Policy } from './policy.ts'
import { checkPacerOptions, PolicyBook } from './policy-book.ts'
import { type PolicyFor, type PolicyLookup, policyLookup } from './policy-lookup.ts'
import type { Reservation } from './reservation.ts'
import { memoryStore } from './stores/memory-store.ts'
import { checkStore, type HostView } from './stores/store.ts'
import { checkKey, checkWaitOptions, type Waiter } from './waiter.ts'

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

/** What is declared of the resources of a host: as good as nothing. */
const unbounded: Policy = { rate: 1e6, capacity: 1e6, justification: 'Only what the host publishes counts' }

/** Takes a request back from the line of its host. */
const laneIsClosed = Symbol('The resource is used up')

/** Marks pacers, also those of another copy of this package. */
const pacerMark = Symbol.for('hostpace.pacer')

/**
 * The limiters of all hosts, keyed by request origin, with their queues. Clients of every kind share one,
 * so that a host sees one pace whoever asks.
 *
 * Make one with `createPacer`.
 */
export class Pacer {
  readonly #keys: KeyFinder
  readonly #policies: PolicyBook
  readonly #events = new EventHub()
  readonly #desk: Desk
  readonly #holds: Holds
  readonly #learning: Learning
  readonly #lanes: Lanes
  readonly #check: PolicyFor['check']
  readonly #ownsStore: boolean

  /** @throws {PolicyError} if an option makes no sense */
  constructor(pacerOptions: PacerOptions = {}) {
    const options = checkPacerOptions(pacerOptions)
    if (options.clock !== undefined) checkClock(options.clock, 'options.clock')
    if (options.store !== undefined) checkStore(options.store, 'options.store')
    Object.defineProperty(this, pacerMark, { value: true })
    this.#keys = new KeyFinder(options.keyBy)
    this.#policies = new PolicyBook(options, this.#keys)
    this.#ownsStore = options.store === undefined
    const clock = completeClock(options.clock)
    this.#desk = new Desk(
      options.store ?? memoryStore(),
      this.#policies,
      this.#events,
      clock,
      (host, observation) => this.#learning.observe(host, observation),
      (host) => this.#lookupOf(host),
      (key) => this.#lanes.forget(key),
      (waiter, key) => this.#divert(waiter, key),
    )
    this.#check = checkOf(options.policyFor)
    this.#lanes = new Lanes(() => this.#makeLanePacer(options.clock))
    this.#holds = new Holds(this.#desk)
    const rules = options.adapt === false ? undefined : this.#policies.rules
    this.#learning = new Learning(this.#desk, this.#holds, this.#lanes, () => clock.wallNow(), rules)
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
      const key = this.#keyOf(url, options)
      return this.#check === undefined ? this.#waitAt(url, key, options) : this.#waitChecked(url, key, options)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /**
   * Reserves a departure without sleeping, behind all who wait. For schedulers, which put the URL off and work on
   * another host meanwhile; hand the reservation to `wait`, or to an adapter, in time or within a second after.
   */
  async reserve(url: string | URL, options: Pick<WaitOptions, 'cost' | 'key'> = noOptions): Promise<Reservation> {
    const key = this.#keyOf(url, options)
    const { cost = 1 } = plainFields(options, ['cost', 'key'], 'options')
    return this.#desk.reserve(key, cost as number)
  }

  /** When a request that is made now would leave. Takes nothing. */
  async peek(url: string | URL): Promise<Peek> {
    const key = this.#keys.keyOf(url)
    return this.#withLane(key, url, await this.#peekAt(key))
  }

  /**
   * Waits, calls `fn`, observes how it ended and frees the permit.
   *
   * A declared interval counts from the call of `fn`, since nobody tells when it has connected; where that takes long, call
   * `permit.sent()` once the request is on the wire.
   *
   * A result, or an error's `response`, that has a status and headers is observed as the response. What `fn`
   * throws is rethrown as it is.
   */
  async run<T>(url: string | URL, fn: (permit: Permit) => T | Promise<T>, options?: WaitOptions): Promise<T> {
    aFunction(fn, 'fn')
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
    checkOutcome(outcome)
    const departedAtMs = this.#desk.now() - (outcome.latencyMs ?? 0)
    const host = this.#hostOf(url)
    const outstanding = this.#desk.records.inFlight[host] as number
    this.#learning.observe(host, { outcome, departedAtMs, outstanding, url })
  }

  /** Holds a host for `ms` from now on; the longest of several pauses wins. It restarts gently. */
  pause(url: string | URL, ms: number, reason = 'paused by the program'): void {
    this.#holds.hold(this.#hostOf(url), nonNegativeNumber(ms, 'ms'), reason)
  }

  /** Ends the hold on a host, whoever asked for it. It restarts gently. */
  resume(url: string | URL): void {
    this.#holds.release(this.#hostOf(url))
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
    this.#desk.renewLimits(key)
  }

  /** Which layers apply to a host, where each came from, what credit is left and when the next request may leave. */
  async explain(url: string | URL): Promise<Explanation> {
    const key = this.#keys.keyOf(url)
    const { host, limits } = await this.#desk.ready(key)
    const view = await this.#desk.store.view(host, limits, this.#desk.now())
    const reason = this.#holds.reasonOf(host) ?? 'paused'
    const peek = await this.#withLane(key, url, this.#peek(host, limits, view))
    return explain(key, limits, this.#learnedOf(key, host), view, peek, reason, (field) =>
      this.#policies.sourceOf(key, field),
    )
  }

  /** What has happened so far, by host and all together. */
  stats(): PacerStats {
    this.#desk.sweepSometimes()
    return this.#desk.records.stats(this.#desk.now())
  }

  /** Forgets the hosts that have recovered all of their credit and have nothing queued, in flight or learned. */
  sweep(): void {
    this.#desk.store.hosts.sweep(this.#desk.now())
  }

  /**
   * Calls `listener` at every event of this name, in the middle of what it tells of: it should be short. `depart` and
   * `reject` are told in the async context of the call of `wait` that they are about (`AsyncLocalStorage`, where the
   * runtime has it), if somebody listened by then.
   *
   * What a listener throws disturbs neither the request nor the other listeners. As with an `EventTarget`, it is thrown
   * again on its own afterwards, as an uncaught exception, which ends a Node.js process that does not handle it.
   *
   * @returns a function that ends it
   * @throws {PolicyError} if there is no event of this name, or `listener` is no function
   */
  on<Name extends PacerEventName>(name: Name, listener: PacerListener<Name>): () => void {
    return this.#events.on(name, listener)
  }

  /** Rejects all who wait with `PacerClosedError`, and closes the store if the pacer made it. Safe to call twice. */
  async close(): Promise<void> {
    await this.#lanes.pacer?.close()
    if (this.#desk.close() && this.#ownsStore) await this.#desk.store.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #keyOf(url: string | URL, options: Pick<WaitOptions, 'key' | 'request'>): string {
    anyObject(options, 'options')
    const { key } = options
    return key === undefined ? this.#keys.keyOf(url, options.request) : checkKey(key, 'key')
  }

  async #waitChecked(url: string | URL, key: string, options: WaitOptions): Promise<Permit> {
    const sinceMs = this.#desk.now()
    checkWaitOptions(options, Number.POSITIVE_INFINITY)
    const maxWaitMs = this.#maxWaitOf(key, options)
    const late = () => new WaitTooLongError(key, Number.POSITIVE_INFINITY, maxWaitMs, 'none')
    const admitted = inTime(this.#admit(new URL(url), key), this.#desk.alarm, sinceMs + maxWaitMs, late)
    try {
      await abortable(admitted, options.signal)
    } catch (error) {
      options.reservation?.cancel()
      this.#refusedBefore(key, error, options, sinceMs)
      throw error
    }
    return this.#waitAt(url, key, options, sinceMs)
  }

  #waitAt(url: string | URL, key: string, options: WaitOptions, sinceMs?: number): Promise<Permit> {
    const lane = this.#lanes.laneOf(key, url)
    if (lane === undefined) return this.#desk.wait(key, options, url, sinceMs)
    return this.#waitInLane(lane, url, key, options, sinceMs ?? this.#desk.now())
  }

  /** First for the resource that the request is for, then for its host. */
  async #waitInLane(
    lane: string,
    url: string | URL,
    key: string,
    options: WaitOptions,
    sinceMs: number,
  ): Promise<HostPermit> {
    const { policy } = this.#desk.knownLimitsOf(this.#desk.hostOf(key))
    const maxWaitMs = policy.onLimit === 'reject' ? 0 : (options.maxWaitMs ?? policy.maxWaitMs)
    const inLane = { ...options, key: lane, maxWaitMs, reportsSent: true, reservation: undefined }
    for (;;) {
      const lanePermit = await this.#passLane(lane, url, key, inLane, sinceMs).catch((error) => {
        options.reservation?.cancel()
        throw error
      })
      this.#lanes.entered(lane)
      try {
        return await this.#desk.wait(key, { ...options, maxWaitMs }, url, sinceMs, lanePermit)
      } catch (error) {
        lanePermit.done()
        if (error !== laneIsClosed) throw error
      } finally {
        this.#lanes.left(lane)
      }
    }
  }

  async #passLane(
    lane: string,
    url: string | URL,
    key: string,
    options: WaitOptions,
    sinceMs: number,
  ): Promise<HostPermit> {
    try {
      return await (this.#lanes.pacer as Pacer).#desk.wait(lane, options, url, sinceMs)
    } catch (error) {
      this.#refusedBefore(key, error, options, sinceMs)
      throw error
    }
  }

  /**
   * Has a request that waits for its host wait for its resource first: if that has become known since it lined up, or has
   * been used up since the request had its leave.
   */
  #divert(waiter: Waiter, key: string): boolean {
    const { url, options, sinceMs, lane: passed, scope } = waiter
    if (passed !== undefined) {
      const isClosed = (this.#lanes.pacer as Pacer).#isUsedUp(passed.host)
      if (isClosed) waiter.refuse(laneIsClosed)
      return isClosed
    }
    const lane = url === undefined ? undefined : this.#lanes.laneOf(key, url)
    if (url === undefined || lane === undefined) return false
    runIn(scope, () => this.#waitInLane(lane, url, key, options, sinceMs)).then(
      (permit) => waiter.admit(permit),
      (error) => waiter.refuse(error),
    )
    return true
  }

  /** Whether a host is held, or has told that nothing is left until a reset to come. */
  #isUsedUp(host: number): boolean {
    const nowMs = this.#desk.now()
    const heldUntilMs = this.#desk.records.holds.get(host)?.untilMs ?? nowMs
    const published = this.#learning.of(host)?.published ?? []
    return (
      heldUntilMs > nowMs || published.some(({ remaining, resetAtMs = nowMs }) => remaining === 0 && resetAtMs > nowMs)
    )
  }

  #refusedBefore(key: string, error: unknown, { signal }: WaitOptions, sinceMs: number): void {
    if (signal?.aborted !== true) this.#desk.refusedBefore(key, error, sinceMs)
  }

  #maxWaitOf(key: string, { maxWaitMs }: WaitOptions): number {
    const { policy } = this.#desk.knownLimitsOf(this.#desk.hostOf(key))
    return maxWaitMs ?? policy.maxWaitMs ?? Number.POSITIVE_INFINITY
  }

  /**
   * @internal Takes in what an answer says of a resource.
   *
   * @param passed the permit of the resource that the request waited for, which may have been another one
   * @param underWay how many have their leave of the resource and wait for their host; their credit is set aside
   */
  observeResource(
    key: string,
    policies: readonly RateLimitPolicy[],
    departedAtMs: number,
    passed: HostPermit | undefined,
    underWay: number,
    complaint: LimitAnswer | undefined,
  ): void {
    const host = this.#desk.hostOf(key)
    const { inFlight } = this.#desk.records
    const after = passed?.key === key ? this.#desk.departedAfter(passed) : (inFlight[host] as number)
    this.#learning.learnPublished(host, policies, departedAtMs, Math.max(0, after - underWay))
    if (complaint !== undefined) this.#holds.complained(host, complaint)
  }

  /** What was learned of a host and of its resources, which go by their names. */
  #learnedOf(key: string, host: number): Learned | undefined {
    const learned = this.#learning.of(host)
    const resources = [...this.#lanes.lanesOf(key)].flatMap((lane) => {
      const published = this.#lanes.pacer?.publishedOf(lane) ?? []
      return published.map((limit) => ({ ...limit, name: lane.slice(key.length + 1) }))
    })
    return resources.length === 0 ? learned : { ...learned, published: [...(learned?.published ?? []), ...resources] }
  }

  /** @internal */
  publishedOf(key: string): readonly PublishedLimit[] {
    return this.#learning.of(this.#desk.hostOf(key))?.published ?? []
  }

  #makeLanePacer(clock: Clock | undefined): Pacer {
    const pacer = new Pacer({ ...unbounded, store: this.#desk.store, ...(clock && { clock }) })
    pacer.on('wait', (event) => this.#events.emit('wait', event))
    pacer.on('pause', (event) => this.#events.emit('pause', event))
    return pacer
  }

  async #admit(url: URL, key: string): Promise<void> {
    await this.#desk.ready(key)
    await this.#check?.(url, key)
  }

  #lookupOf(host: number): PolicyLookup {
    const { records } = this.#desk
    return policyLookup(
      this,
      (url, signal) => this.#desk.waitForLookup(this.#keys.keyOf(url), signal),
      (ms) => void records.staleAtMs.set(host, this.#desk.now() + ms),
      () => this.#desk.now(),
    )
  }

  #hostOf(url: string | URL): number {
    return this.#desk.hostOf(this.#keys.keyOf(url))
  }

  async #peekAt(key: string): Promise<Peek> {
    const { host, limits } = await this.#desk.ready(key)
    return this.#peek(host, limits, await this.#desk.store.view(host, limits, this.#desk.now()))
  }

  /** What a request for `url` would wait, of that for its host and that for its resource the longer one. */
  async #withLane(key: string, url: string | URL, peek: Peek): Promise<Peek> {
    const lane = this.#lanes.laneOf(key, url)
    if (lane === undefined) return peek
    const { waitMs, layer } = await (this.#lanes.pacer as Pacer).#peekAt(lane)
    return waitMs > peek.waitMs ? { ...peek, waitMs, layer } : peek
  }

  #peek(host: number, limits: Limits, view: HostView): Peek {
    this.#desk.records.queues[host]?.lineUp(view.forecast)
    const waitMs = view.forecast.find(1) - view.nowMs
    const { binding } = view.forecast
    view.forecast.end()
    return {
      waitMs,
      layer: waitMs === 0 && view.inFlight >= limits.concurrency ? 'concurrency' : binding,
      queued: this.#desk.records.queues[host]?.size ?? 0,
      inFlight: this.#desk.records.inFlight[host] as number,
    }
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
  if (typeof value !== 'object' || value === null)
    throw new PolicyError('options', `must be a pacer or options, got ${show(value)}`)
  return pacerMark in value
}

/** The check that comes with a look-up, bound to it. */
function checkOf(policyFor: PolicyFor | undefined): PolicyFor['check'] {
  const check = policyFor?.check
  if (check === undefined) return undefined
  aFunction(check, 'options.policyFor.check')
  return (url, key) => check.call(policyFor, url, key)
}
