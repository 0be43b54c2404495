import type { Alarm, Sleeper } from './alarm.ts'
import { costError } from './checks.ts'
import { QueueFullError, RateLimitedError, type StoreError, WaitTooLongError } from './errors.ts'
import type { Forecast } from './forecast.ts'
import { type LayerName, nanosecondMs } from './layers/layer.ts'
import type { Limits } from './limits.ts'
import { Outlook } from './outlook.ts'
import type { Slot } from './slot.ts'
import { type Answer, answerOf, type HostView, type Leave, type Store } from './stores/store.ts'
import type { Waiter, WaiterOwner } from './waiter.ts'
import { WaitingLine } from './waiting-line.ts'

/** What a queue needs of the pacer it belongs to. */
export interface QueueOffice {
  readonly store: Store
  readonly alarm: Alarm
  now(): number
  /** The limits of a host; `undefined` while they are looked up. */
  limitsOf(host: number): Limits | undefined
  /** One who lined up before its resource was known has to wait for that first. @returns whether it does so now */
  divert(waiter: Waiter, host: number): boolean
  admitted(waiter: Waiter, host: number, departure: Slot | undefined, layer: LayerName): void
  refused(waiter: Waiter, host: number, error: unknown, nowMs: number): void
  waiting(host: number, waitMs: number, layer: LayerName, queued: number): void
  /** @returns what to reject a request with that the store could not be asked for */
  storeFailed(host: number, cause: unknown): StoreError
  /** Nobody waits in this queue any more. */
  emptied(host: number, queue: HostQueue): void
}

/**
 * Those who wait for one host.
 *
 * Only the head of the line holds a slot. So whoever gives up costs nothing, those behind move up, and
 * a pause or a new policy applies to all who wait: the head just asks again.
 */
export class HostQueue implements Sleeper, WaiterOwner {
  wakeAtMs = 0
  heapIndex = -1

  readonly #office: QueueOffice
  readonly #host: number
  readonly #key: string
  readonly #limitsOf: () => Limits | undefined
  readonly #line = new WaitingLine<Waiter>()
  /** The head that asked last, and what it was promised. */
  #asker: Waiter | undefined
  #slot: Slot | undefined
  /** How many of the line will not wait for ever. */
  #impatient = 0
  /** Nobody's wait ends before this because it is too long; `-Infinity` if that is to be found out. */
  #firstExpiryMs = Number.POSITIVE_INFINITY
  /** What is foretold to the line, as long as it holds. */
  #outlook: Outlook | undefined
  /** Whether some came before others in line, of whom nobody has been told yet what that makes of their waits. */
  #isStale = false
  /** Whether a shared store has been asked for its view and has not answered yet. */
  #isLooking = false
  /** Whether the line is being told. */
  #isForetelling = false
  /** Whether something has changed since one of the two began. */
  #isOutdated = false
  /** Which layer the line waits for. */
  #layer: LayerName = 'none'
  /** Whether a shared store has been asked and has not answered yet. */
  #isAsking = false
  #mustAskAgain = false

  /** @param limits what the line goes by in place of the present limits of the host */
  constructor(office: QueueOffice, host: number, key: string, limits?: Limits) {
    this.#office = office
    this.#host = host
    this.#key = key
    this.#limitsOf = limits === undefined ? () => office.limitsOf(host) : () => limits
  }

  get size(): number {
    return this.#line.size
  }

  /** Lets all who wait depart in a forecast. */
  lineUp(forecast: Forecast): void {
    for (const waiter of this.#line) {
      const slot = this.#slotOf(waiter)
      if (slot === undefined) forecast.next(waiter.cost)
      else forecast.notBefore(slot.departAtMs, slot.layer)
    }
  }

  /** Lines up a request, or refuses it at once. `leave` is what the store said to it, if it was asked. */
  enqueue(waiter: Waiter, leave?: Answer<Leave>): void {
    const maxQueue = this.#limitsOf()?.policy.maxQueue ?? Number.POSITIVE_INFINITY
    const isFull = () => this.#line.size - this.#mayLeave() >= maxQueue
    if (isFull() && this.#isStale) this.#refuseHopeless()
    if (isFull()) {
      this.#office.refused(waiter, this.#host, new QueueFullError(maxQueue, this.#key), this.#office.now())
      return
    }
    this.#line.add(waiter)
    if (waiter.maxWaitMs !== undefined) this.#impatient++
    this.#firstExpiryMs = Math.min(this.#firstExpiryMs, this.#expiryOf(waiter))
    if (this.#line.head === waiter) this.ask(leave)
    // Having asked, it may have left, or others may be the head by now.
    if (waiter.isInLine) this.#foretell(waiter)
    if (waiter.isInLine && this.#slot === undefined) this.#wakeToRefuse(waiter)
  }

  /** The policy has been looked up. */
  limitsKnown(): void {
    this.recheck()
    this.#refuseExcess()
  }

  /** A permit or a slot has come free: nobody has to wait longer than before. */
  freed(): void {
    if (this.#outlook !== undefined) this.#outlook.isSure = false
    this.ask()
  }

  /** Somebody else was promised a slot behind the line. */
  overtaken(): void {
    this.#dropOutlook()
  }

  /** Asks for the head, and for those behind it, until one has to wait. */
  ask(answer?: Answer<Leave>): void {
    if (this.#isAsking) {
      this.#mustAskAgain = true
      return
    }
    let known = answer
    for (let head = this.#line.head; head !== undefined; head = this.#line.head) {
      const limits = this.#limitsOf()
      if (limits === undefined) return
      if (head.cost > limits.stack.maxCost) {
        this.#refuse(head, costError(head.cost, limits.stack.maxCost))
        continue
      }
      if (known === undefined && this.#office.divert(head, this.#host)) {
        // Whoever hears of it may have closed this line.
        if (head.isInLine) this.#remove(head)
        continue
      }
      const leave = known ?? this.#askStore(head, limits)
      known = undefined
      if (leave instanceof Promise) {
        this.#await(leave, head, limits)
        return
      }
      if (!this.#settle(head, leave, limits)) return
    }
    this.#rest()
  }

  /** Something has changed that applies to all who wait, such as a pause, its end or a policy. */
  recheck(): void {
    this.#dropOutlook()
    this.#firstExpiryMs = Number.NEGATIVE_INFINITY
    this.ask()
    this.#refuseHopeless()
  }

  /** The time of the head's slot has come, or somebody has waited long enough. */
  wake(): void {
    this.#refuseExpired()
    this.ask()
    if (this.#slot === undefined && this.#line.size > 0) this.#sleep(Number.POSITIVE_INFINITY)
  }

  /** A signal was aborted. */
  abandon(waiter: Waiter): void {
    // One that leaves at this moment has its permit.
    if (!waiter.isInLine) return
    const wasHead = this.#line.head === waiter
    this.#remove(waiter)
    this.#office.refused(waiter, this.#host, waiter.abortReason, this.#office.now())
    if (wasHead) this.ask()
  }

  /** Rejects everybody. */
  close(error: unknown): void {
    for (const waiter of [...this.#line]) this.#refuse(waiter, error)
    this.#rest()
  }

  #askStore(head: Waiter, limits: Limits): Answer<Leave> {
    const { store } = this.#office
    const nowMs = this.#office.now()
    const more = this.#line.size - 1
    const slot = this.#slot
    this.#slot = undefined
    if (slot !== undefined && this.#asker === head) {
      const answer = answerOf(() => store.retry(this.#host, limits, slot, head.reportsSent, nowMs, more))
      return answer instanceof Promise ? answer.catch((error) => this.#giveUp(slot, limits, error)) : answer
    }
    return answerOf(() => {
      if (slot !== undefined) store.giveBack(this.#host, limits, slot, nowMs)
      return store.leave(this.#host, limits, head.cost, head.reportsSent, nowMs, head.order, more)
    })
  }

  /** Nobody knows what has become of a slot that the store failed to let go: whatever is left of it must not stay. */
  async #giveUp(slot: Slot, limits: Limits, error: unknown): Promise<never> {
    this.#office.store.giveBack(this.#host, limits, slot, this.#office.now())
    throw error
  }

  /** @returns whether the next in line may be asked for */
  #settle(head: Waiter, leave: Leave, limits: Limits): boolean {
    if (leave.kind === 'gone') {
      this.#asker = undefined
      this.#stepOut(head)
      if (this.#outlook?.departed() === false) this.#dropOutlook()
      this.#office.admitted(head, this.#host, leave.slot, this.#layer)
      if (this.#line.size === 0) this.#layer = 'none'
      return true
    }
    const isNews = this.#asker !== head
    this.#asker = head
    this.#slot = leave.kind === 'promised' ? leave.slot : undefined
    this.#layer = leave.kind === 'promised' ? leave.slot.layer : 'concurrency'
    const waitMs = leave.kind === 'promised' ? leave.waitMs : Number.POSITIVE_INFINITY
    const error = this.#tooLong(head, waitMs, this.#layer, limits)
    if (error !== undefined) {
      this.#refuse(head, error)
      return true
    }
    this.#sleep(waitMs)
    if (isNews) this.#office.waiting(this.#host, waitMs, this.#layer, this.#line.size)
    return false
  }

  #await(answer: Promise<Leave>, head: Waiter, limits: Limits): void {
    this.#isAsking = true
    this.#mustAskAgain = false
    answer.then(
      (leave) => this.#answered(head, leave, limits),
      (error) => {
        this.#isAsking = false
        const failure = this.#office.storeFailed(this.#host, error)
        if (this.#line.head === head) this.#refuse(head, failure)
        this.ask()
      },
    )
  }

  #answered(head: Waiter, leave: Leave, limits: Limits): void {
    this.#isAsking = false
    const { store } = this.#office
    if (this.#line.head !== head || this.#limitsOf() !== limits) {
      // It gave up, somebody went ahead or the policy is another by now: what it was given goes back.
      if (leave.kind !== 'full' && leave.slot !== undefined)
        store.giveBack(this.#host, limits, leave.slot, this.#office.now())
      if (leave.kind === 'gone' && limits.isBounded) store.finish(this.#host)
      this.ask()
    } else if (this.#settle(head, leave, limits) || this.#mustAskAgain) {
      this.ask()
    }
    this.#refuseExcess()
  }

  /** How long the head sleeps; where it waits for a permit, until somebody has waited long enough. */
  #sleep(waitMs: number): void {
    const { alarm } = this.#office
    const untilMs = Number.isFinite(waitMs) ? this.#office.now() + waitMs : this.#nextExpiryMs()
    if (Number.isFinite(untilMs)) alarm.set(this, untilMs)
    else alarm.clear(this)
  }

  #nextExpiryMs(): number {
    if (this.#firstExpiryMs === Number.NEGATIVE_INFINITY) this.#firstExpiryMs = this.#expiryAfter(this.#firstExpiryMs)
    // Where the store is thinking, those whose last moment it is hear from it.
    const nowMs = this.#office.now()
    return this.#isAsking && this.#firstExpiryMs <= nowMs ? this.#expiryAfter(nowMs) : this.#firstExpiryMs
  }

  /** When the first has waited long enough of those for whom that is after `afterMs`. */
  #expiryAfter(afterMs: number): number {
    let firstMs = Number.POSITIVE_INFINITY
    for (const waiter of this.#line) {
      const atMs = this.#expiryOf(waiter)
      if (atMs > afterMs) firstMs = Math.min(firstMs, atMs)
    }
    return firstMs
  }

  #expiryOf(waiter: Waiter): number {
    return waiter.sinceMs + this.#maxWaitOf(waiter)
  }

  /** Has the alarm wake in time to refuse one who will not wait for ever, where nobody can tell when it leaves. */
  #wakeToRefuse(waiter: Waiter): void {
    const atMs = this.#expiryOf(waiter)
    if (Number.isFinite(atMs) && (this.heapIndex < 0 || atMs < this.wakeAtMs)) this.#office.alarm.set(this, atMs)
  }

  /** How many of the line do not wait as far as anybody knows: one that the store has not answered yet. */
  #mayLeave(): number {
    return this.#isAsking && this.#asker === undefined ? 1 : 0
  }

  /** Refuses the last of the line if it turns out to be longer than it may be. */
  #refuseExcess(): void {
    const maxQueue = this.#limitsOf()?.policy.maxQueue
    const size = this.#line.size - this.#mayLeave()
    if (maxQueue === undefined || size <= maxQueue) return
    for (const waiter of [...this.#line].slice(maxQueue - size)) {
      this.#refuse(waiter, new QueueFullError(maxQueue, this.#key))
    }
  }

  /** Refuses those who have waited as long as they would; the head may still leave in the last moment. */
  #refuseExpired(): void {
    const nowMs = this.#office.now()
    if (nowMs < this.#firstExpiryMs) return
    for (const waiter of [...this.#line]) {
      const leftMs = this.#expiryOf(waiter) - nowMs
      if (leftMs > 0 || (leftMs === 0 && this.#slot !== undefined)) continue
      const maxWaitMs = this.#maxWaitOf(waiter)
      this.#refuse(waiter, new WaitTooLongError(this.#key, Number.POSITIVE_INFINITY, maxWaitMs, this.#layer))
    }
    this.#firstExpiryMs = this.#expiryAfter(Number.NEGATIVE_INFINITY)
  }

  /** Refuses a newcomer that would have to wait longer than it will, and those behind it who would now. */
  #foretell(waiter: Waiter): void {
    // Whoever is in the line when the store has told its view, or when the turn is over, is told too.
    if (this.#isLooking || this.#isStale) return
    const outlook = this.#outlook
    if (outlook === undefined || this.#isForetelling) {
      this.#refuseHopeless()
      return
    }
    if (this.#line.last !== waiter) {
      this.#refuseHopelessSoon()
      return
    }
    const limits = this.#limitsOf() as Limits
    const waitMs = outlook.waitOf(waiter.cost, this.#office.now())
    const layer = this.#layer === 'concurrency' ? this.#layer : outlook.binding
    const error = this.#tooLong(waiter, waitMs, layer, limits)
    if (error === undefined) {
      outlook.take(waiter.cost)
      waiter.isForetold = true
    } else if (outlook.isSure) {
      this.#refuse(waiter, error)
    } else {
      this.#refuseHopeless()
    }
  }

  /** Does so once for all who come in one turn: each that goes before others costs a look at all of these. */
  #refuseHopelessSoon(): void {
    this.#isStale = true
    queueMicrotask(() => {
      if (this.#isStale) this.#refuseHopeless()
    })
  }

  /** Refuses those who would have to wait longer than they will. */
  #refuseHopeless(): void {
    this.#isStale = false
    if (!this.#dropOutlook()) return
    const limits = this.#limitsOf()
    if (limits === undefined || !this.#hasImpatient()) return
    const view = answerOf(() => this.#office.store.view(this.#host, limits, this.#office.now()))
    if (!(view instanceof Promise)) {
      this.#refuseHopelessBy(view, limits, true)
      return
    }
    this.#isLooking = true
    view
      .finally(() => {
        this.#isLooking = false
      })
      .then(
        (later) => {
          if (!this.#isOutdated) {
            this.#refuseHopelessBy(later, limits, false)
          } else {
            later.forecast.end()
            this.#refuseHopeless()
          }
        },
        () => {},
      )
  }

  #refuseHopelessBy(view: HostView, limits: Limits, isSure: boolean): void {
    const { forecast, nowMs } = view
    this.#outlook = new Outlook(view, this.#line.size, this.#office.now(), isSure)
    this.#isForetelling = true
    for (const waiter of [...this.#line]) {
      // Whoever hears of a refusal may abort or close.
      if (!waiter.isInLine) continue
      const slot = this.#slotOf(waiter)
      const departMs = slot?.departAtMs ?? forecast.find(waiter.cost)
      const layer = slot?.layer ?? (this.#layer === 'concurrency' ? this.#layer : forecast.binding)
      const error = this.#tooLong(waiter, departMs - nowMs, layer, limits)
      waiter.isForetold = error === undefined
      if (error !== undefined) this.#refuse(waiter, error)
      else if (slot === undefined) forecast.take(waiter.cost)
      else forecast.notBefore(departMs, layer)
    }
    this.#isForetelling = false
    if (this.#line.size === 0) this.#rest()
    if (this.#isOutdated) this.#refuseHopeless()
  }

  /** @returns whether it could; an outlook that is being made will be made anew after that */
  #dropOutlook(): boolean {
    this.#isOutdated = this.#isForetelling || this.#isLooking
    if (this.#isOutdated) return false
    this.#outlook?.end()
    this.#outlook = undefined
    return true
  }

  #slotOf(waiter: Waiter): Slot | undefined {
    return waiter === this.#asker ? this.#slot : undefined
  }

  /** Whether anybody in the line will not wait for ever. */
  #hasImpatient(): boolean {
    const { maxWaitMs, onLimit } = this.#limitsOf()?.policy ?? {}
    return this.#line.size > 0 && (this.#impatient > 0 || maxWaitMs !== undefined || onLimit === 'reject')
  }

  #maxWaitOf(waiter: Waiter): number {
    return waiter.maxWaitMs ?? this.#limitsOf()?.policy.maxWaitMs ?? Number.POSITIVE_INFINITY
  }

  /** The error of one who will not wait that long. */
  #tooLong(waiter: Waiter, waitMs: number, layer: LayerName, limits: Limits): Error | undefined {
    if (limits.policy.onLimit === 'reject' && waitMs > 0) return new RateLimitedError(this.#key, waitMs, layer)
    const maxWaitMs = this.#maxWaitOf(waiter)
    const waitedMs = this.#office.now() - waiter.sinceMs
    // Nobody can tell how long a permit takes; the time that was given is waited for it.
    const isTooLong =
      waitMs === Number.POSITIVE_INFINITY ? waitedMs >= maxWaitMs : waitedMs + waitMs > maxWaitMs + nanosecondMs
    return isTooLong ? new WaitTooLongError(this.#key, waitMs, maxWaitMs, layer) : undefined
  }

  #refuse(waiter: Waiter, error: unknown): void {
    if (!waiter.isInLine) return
    this.#remove(waiter)
    this.#office.refused(waiter, this.#host, error, this.#office.now())
  }

  /** Takes a waiter out of the line, and gives its slot back if it has one. */
  #remove(waiter: Waiter): void {
    this.#stepOut(waiter)
    if (waiter.isForetold && this.#outlook !== undefined) this.#outlook.isSure = false
    if (this.#asker !== waiter) return
    const slot = this.#slot
    const limits = this.#limitsOf()
    this.#asker = undefined
    this.#slot = undefined
    if (slot !== undefined && limits !== undefined) {
      this.#office.store.giveBack(this.#host, limits, slot, this.#office.now())
    }
  }

  #stepOut(waiter: Waiter): void {
    this.#line.remove(waiter)
    if (waiter.maxWaitMs !== undefined) this.#impatient--
  }

  #rest(): void {
    this.#office.alarm.clear(this)
    if (this.#line.size === 0) this.#dropOutlook()
    if (this.#line.size === 0 && !this.#isAsking) this.#office.emptied(this.#host, this)
  }
}
