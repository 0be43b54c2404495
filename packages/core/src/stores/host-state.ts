import { nanosecondMs } from '../layers/layer.ts'
import { shiftLearned } from '../learning/learned.ts'
import type { Limits } from '../limits.ts'
import type { Slot } from '../slot.ts'
import { type Place, SlotBook } from '../slot-book.ts'
import type { LeaveStep, LedgerCall, LedgerReply, SpareSlot, Step, StepAnswer } from './ledger.ts'
import type { HostNotice, LedgerSlot, SavedHost } from './saved-host.ts'

/** How long after its time a reserved slot waits for whoever reserved it: timers and schedulers are late. */
const claimableMs = 1000

/** The place of one who comes after all others. */
const last = Number.POSITIVE_INFINITY

/** How many slots are promised at once at the most. */
const mostSpares = 1000

/** How long a departure counts as one that a worker which comes back may not know of. */
const recentMs = 10_000

/** Finds the state of the same host under other limits, if there is any. */
export type StateUnder = (limits: Limits) => HostState | undefined

/**
 * The state of one host under one policy in a ledger, and what a call does to it. Time is an argument, and all that is
 * remembered is plain data, so that a ledger can keep it wherever it likes.
 *
 * What it does to the credit is what `memoryStore` does, departure by departure; beyond that it knows who shares the
 * host. Whoever does not call for the length of its lease is taken to be dead: its permits come free, what it was
 * promised for later is struck out, and what it was about to send counts as sent.
 */
export class HostState {
  readonly limits: Limits
  readonly #cells: Float64Array
  readonly #book = new SlotBook(claimableMs)
  readonly #workers = new Map<string, { aliveUntilMs: number; inFlight: number; seq: number }>()
  #latestMs = Number.NEGATIVE_INFINITY
  #pauseVersion = 0
  #learnedVersion = 0
  #seq = 0
  #spent = 0
  #spentSinceMs = Number.NEGATIVE_INFINITY

  constructor(limits: Limits, saved?: SavedHost) {
    this.limits = limits
    this.#cells = limits.stack.fresh()
    if (saved !== undefined) this.#load(saved)
  }

  /**
   * Carries out a call.
   *
   * @param notice what the host has said whatever the policy; it is changed if the call does
   */
  decide(call: LedgerCall, notice: HostNotice, clockMs: number, stateUnder: StateUnder): LedgerReply {
    const isBehind = call.seq > (this.#workers.get(call.worker)?.seq ?? this.#seq)
    if (isBehind && call.credits === undefined) return { lost: true }
    const nowMs = Math.max(clockMs, this.#latestMs)
    this.#latestMs = nowMs
    const own = this.#renew(call, nowMs)
    this.#take(notice, nowMs)
    if (isBehind) this.#heal(call.credits as readonly number[], nowMs)
    if (call.keep !== undefined) this.#keepOnly(call.keep, call.worker)
    const answers = call.steps.map((step) => this.#play(step, call, notice, nowMs, stateUnder))
    this.#seq = Math.max(this.#seq, call.seq) + 1
    own.seq = this.#seq
    return {
      seq: this.#seq,
      nowMs,
      expiresInMs: Math.max(0, this.recoveredAtMs - nowMs),
      workers: this.#workers.size,
      credits: this.#creditsLeft(nowMs),
      pauseVersion: notice.pauseVersion,
      learnedVersion: notice.learnedVersion,
      learned: notice.learnedVersion === call.learnedVersion ? undefined : shiftLearned(notice.learned ?? {}, -nowMs),
      answers,
    }
  }

  /** The latest moment seen. */
  get latestMs(): number {
    return this.#latestMs
  }

  get book(): SlotBook {
    return this.#book
  }

  get cells(): Float64Array {
    return this.#cells
  }

  /** Requests in flight, of all workers. */
  get inFlight(): number {
    let sum = 0
    for (const { inFlight } of this.#workers.values()) sum += inFlight
    return sum
  }

  /** When it says no more than the state of a host never asked: no sooner than what is promised has left and been forgotten. */
  get recoveredAtMs(): number {
    const { slots, pausedUntilMs } = this.#book
    const lastSlot = slots.at(-1)
    if (lastSlot === undefined) return Math.max(this.limits.stack.recoveredAt(this.#cells, 0), pausedUntilMs)
    const { stack } = this.limits
    const lastMs = Math.max(lastSlot.departAtMs, this.#latestMs)
    const cells = stack.fork(this.#cells, 0)
    stack.charge(cells, 0, lastMs, costOf(slots))
    const recoveredMs = stack.recoveredAt(cells, 0)
    stack.release(cells, 0)
    return Math.max(recoveredMs, pausedUntilMs, lastMs)
  }

  /** When the last worker's lease is over. */
  get aliveUntilMs(): number {
    return Math.max(...Array.from(this.#workers.values(), ({ aliveUntilMs }) => aliveUntilMs))
  }

  save(): SavedHost {
    return {
      cells: this.limits.stack.save(this.#cells, 0),
      slots: this.#book.slots.map((slot) => ({ ...(slot as LedgerSlot) })),
      workers: Array.from(this.#workers, ([name, worker]) => ({ name, ...worker })),
      pausedUntilMs: this.#book.pausedUntilMs,
      chargedMs: this.#book.chargedMs,
      latestMs: this.#latestMs,
      pauseVersion: this.#pauseVersion,
      learnedVersion: this.#learnedVersion,
      seq: this.#seq,
      spent: this.#spent,
      spentSinceMs: this.#spentSinceMs,
    }
  }

  /** Frees what the state refers to outside of it; it is of no use afterwards. */
  release(): void {
    this.limits.stack.release(this.#cells, 0)
  }

  #load(saved: SavedHost): void {
    this.limits.stack.load(this.#cells, 0, saved.cells)
    this.#book.resume(
      saved.slots.map((slot) => ({ ...slot })),
      saved.chargedMs,
    )
    this.#book.pause(saved.pausedUntilMs)
    for (const { name, ...worker } of saved.workers) this.#workers.set(name, worker)
    this.#latestMs = saved.latestMs
    this.#pauseVersion = saved.pauseVersion
    this.#learnedVersion = saved.learnedVersion
    this.#seq = saved.seq
    this.#spent = saved.spent
    this.#spentSinceMs = saved.spentSinceMs
  }

  /** Notes who calls, and buries the dead. @returns what is noted */
  #renew({ worker, leaseMs, inFlight }: LedgerCall, nowMs: number): { seq: number } {
    const own = { aliveUntilMs: nowMs + leaseMs, inFlight, seq: this.#workers.get(worker)?.seq ?? 0 }
    this.#workers.set(worker, own)
    for (const [name, { aliveUntilMs }] of this.#workers) {
      if (aliveUntilMs >= nowMs) continue
      this.#workers.delete(name)
      for (const slot of this.#slotsOf(name)) {
        if (slot.departAtMs > nowMs) this.#book.remove(slot)
        else slot.held = false
      }
    }
    return own
  }

  /** Takes in pauses and lessons that came to the host under another policy. */
  #take(notice: HostNotice, nowMs: number): void {
    const { stack } = this.limits
    if (this.#pauseVersion !== notice.pauseVersion) {
      this.#pauseVersion = notice.pauseVersion
      this.#book.pause(notice.pausedUntilMs)
    }
    this.#book.settle(stack, this.#cells, 0, nowMs)
    if (this.#learnedVersion !== notice.learnedVersion) {
      this.#learnedVersion = notice.learnedVersion
      stack.learn(this.#cells, 0, notice.learned ?? {}, nowMs)
    }
  }

  /** The worker remembers a state in which more was used than in this one. */
  #heal(credits: readonly number[], nowMs: number): void {
    const left = credits.map((credit) => credit - this.#spent)
    this.limits.stack.lower(this.#cells, 0, left, nowMs)
    this.#book.chargedUntil(nowMs)
  }

  #keepOnly(names: readonly string[], worker: string): void {
    for (const slot of this.#slotsOf(worker)) if (!names.includes(slot.name)) this.#book.remove(slot)
  }

  #play(step: Step, call: LedgerCall, notice: HostNotice, nowMs: number, stateUnder: StateUnder): StepAnswer {
    const { stack } = this.limits
    switch (step.kind) {
      case 'leave':
      case 'retry':
        return this.#leave(step, call, nowMs)
      case 'reserve': {
        const { slot: name, cost, order, notBeforeMs } = step
        const fromMs = nowMs + notBeforeMs
        const { departMs, layer } = this.#book.earliest(stack, this.#cells, 0, nowMs, cost, fromMs)
        this.#add({ name, departAtMs: departMs, order, layer, cost, held: false, worker: call.worker })
        return { kind: 'reserved', waitMs: departMs - nowMs, layer }
      }
      case 'giveBack': {
        const slot = this.#slot(step.slot)
        if (slot !== undefined) this.#book.giveBack(slot, nowMs)
        return undefined
      }
      case 'sent':
        this.#sent(step.slot, step.cost, nowMs - step.agoMs)
        return undefined
      case 'pause':
        notice.pausedUntilMs = Math.max(notice.pausedUntilMs, nowMs + step.forMs)
        notice.pauseVersion = nextVersion(notice.pauseVersion, nowMs)
        this.#take(notice, nowMs)
        return undefined
      case 'resume':
        if (notice.pausedUntilMs > nowMs) {
          notice.pausedUntilMs = nowMs
          notice.pauseVersion = nextVersion(notice.pauseVersion, nowMs)
          this.#take(notice, nowMs)
        }
        return undefined
      case 'learn':
        notice.learned = shiftLearned(step.learned, nowMs)
        notice.learnedVersion = nextVersion(notice.learnedVersion, nowMs)
        this.#take(notice, nowMs)
        return undefined
      case 'spent':
        for (const { agoMs, cost } of step.departures) this.#spend(cost, nowMs - agoMs)
        return undefined
      case 'adopt':
        this.#adopt(stateUnder(step.from), call.worker, nowMs)
        return undefined
      case 'view':
        return { kind: 'viewed', saved: this.save() }
    }
  }

  #leave(step: LeaveStep, { worker, horizonMs }: LedgerCall, nowMs: number): StepAnswer {
    const { stack, isBounded, concurrency } = this.limits
    const cells = this.#cells
    const { slot: name, cost } = step
    const behindAll: Place = { order: last, departAtMs: last, worker }
    const place = step.kind === 'leave' ? { ...behindAll, order: step.order } : (this.#strike(name) ?? behindAll)
    const { order } = place
    const { departMs, layer } = this.#book.turnOf(stack, cells, 0, nowMs, cost, place)
    const isNow = departMs <= nowMs + nanosecondMs
    if (isNow && isBounded && this.inFlight >= concurrency) return { kind: 'full' }
    this.#book.makeRoom(stack, cells, 0, nowMs, cost, place)
    if (isNow) {
      this.#add({ name, departAtMs: nowMs, order: Number.NEGATIVE_INFINITY, layer: 'none', cost, held: true, worker })
      const own = this.#workers.get(worker)
      if (isBounded && own !== undefined) own.inFlight++
    } else {
      this.#add({ name, departAtMs: departMs, order, layer, cost, held: true, worker })
    }
    const spares = this.#spares(step, order, worker, horizonMs, nowMs)
    return isNow ? { kind: 'gone', spares } : { kind: 'promised', waitMs: departMs - nowMs, layer, spares }
  }

  /**
   * Promises slots to those who wait behind the one that asks, so that they need not ask for themselves.
   *
   * How many permits there will be nobody can promise; and where a late departure brings the next too near, each
   * has to ask when its time has come.
   */
  #spares({ slot: first, cost, more }: LeaveStep, order: number, worker: string, horizonMs: number, nowMs: number) {
    const { stack, isBounded } = this.limits
    const spares: SpareSlot[] = []
    if (more === 0 || isBounded) return spares
    const untilMs = stack.isStrict(this.#cells, 0, horizonMs) ? nowMs : nowMs + horizonMs
    const forecast = this.#book.forecast(stack, this.#cells, 0, nowMs)
    const slots: LedgerSlot[] = []
    while (slots.length < Math.min(more, mostSpares)) {
      const departAtMs = forecast.find(cost)
      if (departAtMs > untilMs) break
      const { binding: layer } = forecast
      forecast.take(cost)
      const name = `${first}:${slots.length + 1}`
      slots.push({ name, departAtMs, order, layer, cost, held: true, worker })
      spares.push({ waitMs: departAtMs - nowMs, layer })
    }
    forecast.end()
    for (const slot of slots) this.#add(slot)
    return spares
  }

  #sent(name: string, cost: number, atMs: number): void {
    const slot = this.#slot(name)
    if (slot === undefined) {
      const { stack } = this.limits
      stack.measureIntervalFrom(this.#cells, 0, Math.max(atMs, this.#book.chargedMs), cost)
    } else {
      this.#book.remove(slot)
      this.#depart(cost, atMs)
    }
  }

  /** Charges a departure: in the order in which the ledger hears of them. */
  #depart(cost: number, atMs: number): void {
    this.#book.depart(this.limits.stack, this.#cells, 0, Math.max(atMs, this.#book.chargedMs), cost)
    this.#remember(cost)
  }

  /** Charges a departure that the ledger could not be asked for: other workers have spent, too, and at the same time. */
  #spend(cost: number, atMs: number): void {
    const departMs = Math.max(atMs, this.#book.chargedMs)
    this.limits.stack.spend(this.#cells, 0, departMs, cost)
    this.#book.chargedUntil(departMs)
    this.#remember(cost)
  }

  #remember(cost: number): void {
    if (this.#latestMs - this.#spentSinceMs > recentMs) {
      this.#spent = 0
      this.#spentSinceMs = this.#latestMs
    }
    this.#spent += cost
  }

  #adopt(former: HostState | undefined, worker: string, nowMs: number): void {
    if (former === undefined || former === this) return
    const { stack } = this.limits
    if (this.#seq === 0) {
      former.#book.settle(former.limits.stack, former.#cells, 0, nowMs)
      stack.adopt(this.#cells, 0, former.limits.stack, former.limits.stack.save(former.#cells, 0), nowMs)
    }
    for (const slot of former.#slotsOf(worker)) {
      former.#book.remove(slot)
      this.#add(slot)
    }
    const own = former.#workers.get(worker)
    if (own !== undefined) own.inFlight = 0
  }

  #add(slot: LedgerSlot): void {
    this.#book.add(slot)
  }

  /** Strikes a slot out. @returns it, if it stands here */
  #strike(name: string): LedgerSlot | undefined {
    const slot = this.#slot(name)
    if (slot !== undefined) this.#book.remove(slot)
    return slot
  }

  #slot(name: string): LedgerSlot | undefined {
    return (this.#book.slots as readonly LedgerSlot[]).find((slot) => slot.name === name)
  }

  #slotsOf(worker: string): LedgerSlot[] {
    return (this.#book.slots as readonly LedgerSlot[]).filter((slot) => slot.worker === worker)
  }

  /** What is left once those have been charged that are on their way to the wire. */
  #creditsLeft(nowMs: number): number[] {
    const leaving = costOf(this.#book.slots.filter(({ departAtMs }) => departAtMs <= nowMs))
    return this.limits.stack.credits(this.#cells, 0, nowMs).map((credit) => Math.max(0, credit - leaving))
  }
}

function costOf(slots: readonly Slot[]): number {
  return slots.reduce((sum, { cost }) => sum + cost, 0)
}

/** A version that no notice had before this one, should that have been forgotten. */
function nextVersion(version: number, nowMs: number): number {
  return Math.max(version + 1, Math.floor(nowMs))
}
