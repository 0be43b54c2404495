import { type HostKeeper, HostTable } from '../host-table.ts'
import { nanosecondMs } from '../layers/layer.ts'
import { type Learned, shiftLearned } from '../learning/learned.ts'
import type { Limits } from '../limits.ts'
import type { Slot } from '../slot.ts'
import { type ChannelSlot, HostChannel } from './host-channel.ts'
import { HostState } from './host-state.ts'
import type { LeaveStep, Ledger, StepAnswer } from './ledger.ts'
import { LedgerLink } from './ledger-link.ts'
import { type SharedSettings, type SharedStoreOptions, sharedSettings } from './shared-options.ts'
import type { Answer, HostView, Leave, Store } from './store.ts'

type LeaveAnswer = StepAnswer & { readonly kind: 'gone' | 'promised' | 'full' }

const full: Leave = { kind: 'full' }

/** How long after it was found full a host is asked again: nobody tells of permits that other processes free. */
const fullMs = 50

/** How late it may be told that a request has left, where nobody waits to hear of it. */
const lateReportMs = 20

/**
 * A store that processes share, on a ledger: SQLite, Redis or whatever can carry out a call in one atomic step.
 *
 * It sends one call per host at a time; what is asked meanwhile goes with the next. Times of slots and views are on
 * the clock of the ledger.
 */
export class SharedStore implements Store, HostKeeper {
  readonly hosts: HostTable = new HostTable()
  readonly #channels = new Map<number, HostChannel>()
  readonly #settings: SharedSettings
  readonly #link: LedgerLink
  #slotsGiven = 0
  /** Hosts that were found full, to be asked again. */
  readonly #full = new Set<number>()

  /** @throws {PolicyError} if an option makes no sense */
  constructor(ledger: Ledger, options: SharedStoreOptions = {}) {
    this.#settings = sharedSettings(options)
    this.#link = new LedgerLink(ledger, this.#settings, this.hosts, this.#channels)
    this.hosts.join(this)
  }

  leave(
    host: number,
    limits: Limits,
    cost: number,
    reportsSent: boolean,
    _nowMs: number,
    order: number = Number.POSITIVE_INFINITY,
    more: number = 0,
  ): Answer<Leave> {
    const channel = this.#channel(host, limits)
    const spare = channel.takeSpare(cost)
    if (spare !== undefined) return this.#use(channel, spare, reportsSent)
    return this.#leave(channel, { kind: 'leave', slot: this.#newName(), cost, order, more }, reportsSent)
  }

  retry(
    host: number,
    limits: Limits,
    slot: Slot,
    reportsSent: boolean,
    _nowMs: number,
    more: number = 0,
  ): Answer<Leave> {
    const channel = this.#channel(host, limits)
    const own = slot as ChannelSlot
    if (own.isSpare && own.epoch === channel.epoch && !this.#isLate(channel, own)) {
      return this.#use(channel, own, reportsSent)
    }
    channel.slots.delete(own.name)
    const { name, cost, order } = own
    return this.#leave(channel, { kind: 'retry', slot: name, cost, order, more }, reportsSent)
  }

  reserve(
    host: number,
    limits: Limits,
    cost: number,
    notBeforeMs: number,
    _nowMs: number,
    order: number = Number.POSITIVE_INFINITY,
  ): Answer<Slot> {
    const channel = this.#channel(host, limits)
    const name = this.#newName()
    const { isLocal } = this.#link
    const answer = this.#link.ask(channel, (nowMs) => {
      const aheadMs = isLocal ? 0 : (channel.aheadMs ?? 0)
      return { kind: 'reserve', slot: name, cost, order, notBeforeMs: Math.max(0, notBeforeMs - nowMs - aheadMs) }
    })
    return thenAt(answer, (said) => {
      const { waitMs, layer } = said as StepAnswer & { kind: 'reserved' }
      return channel.hold(name, { cost, order }, this.#ledgerNow(channel) + waitMs, layer, { held: false })
    })
  }

  giveBack(host: number, limits: Limits, slot: Slot): void {
    const channel = this.#channel(host, limits)
    const own = slot as ChannelSlot
    channel.slots.delete(own.name)
    // One that has not been told of yet need not be.
    channel.questions = channel.questions.filter((question) => question.slot !== own || question.isAsked)
    this.#link.tell(channel, () => ({ kind: 'giveBack', slot: own.name }), own)
  }

  sent(host: number, limits: Limits, slot: Slot | undefined, cost: number): void {
    const channel = this.#channel(host, limits)
    // One that is charged already moves the gap to the next, and nothing else.
    if (slot !== undefined || channel.hasGap) this.#report(channel, slot as ChannelSlot | undefined, cost, false)
  }

  finish(host: number): void {
    const channel = this.#channels.get(host)
    if (channel === undefined) return
    channel.inFlight--
    this.#link.touch(channel)
  }

  pause(host: number, limits: Limits, forMs: number): void {
    const channel = this.#channel(host, limits)
    const untilMs = this.#settings.clock.now() + forMs
    this.#dropSpares(channel)
    this.#link.tell(channel, (nowMs) => ({ kind: 'pause', forMs: Math.max(0, untilMs - nowMs) }))
  }

  resume(host: number, limits: Limits): void {
    this.#link.tell(this.#channel(host, limits), () => ({ kind: 'resume' }))
  }

  learn(host: number, limits: Limits, learned: Learned): void {
    const channel = this.#channel(host, limits)
    channel.learned = learned
    this.#dropSpares(channel)
    this.#link.tell(channel, (nowMs) => ({ kind: 'learn', learned: shiftLearned(learned, -nowMs) }))
  }

  view(host: number, limits: Limits): Answer<HostView> {
    const channel = this.#channel(host, limits)
    const answer = this.#link.ask(channel, () => ({ kind: 'view' }))
    return thenAt(answer, (said) => {
      const { saved } = said as StepAnswer & { kind: 'viewed' }
      const { stack } = channel.limits
      const state = new HostState(channel.limits, saved)
      const { latestMs: nowMs, book, cells, inFlight } = state
      const forecast = book.forecast(stack, cells, 0, nowMs)
      // Those that have left and have not been told of yet are used, too.
      for (const { held, departAtMs, cost } of book.slots) {
        if (held && departAtMs <= nowMs) stack.charge(cells, 0, nowMs, cost)
      }
      const credits = stack.credits(cells, 0, nowMs).slice(0, limits.stack.layers.length)
      state.release()
      const pausedMs = Math.max(0, book.pausedUntilMs - nowMs)
      return { credits, pausedMs, inFlight: limits.isBounded ? inFlight : 0, forecast, nowMs }
    })
  }

  adopt(host: number, former: Limits, limits: Limits, inFlight: number): void {
    const channel = this.#channel(host, former)
    if (former.isBounded !== limits.isBounded) channel.inFlight += limits.isBounded ? inFlight : -inFlight
    if (former.creditName === limits.creditName) return
    this.#dropSpares(channel)
    const from = channel.limits
    channel.change(limits.learning())
    this.#link.tell(channel, () => ({ kind: 'adopt', from }))
  }

  /** Gives back what nobody will use, as far as the ledger can be reached, and frees what the store holds in this process. */
  async close(): Promise<void> {
    for (const channel of this.#channels.values()) this.#dropSpares(channel)
    this.hosts.leave(this)
    await this.#link.close()
  }

  mayForget(host: number, nowMs: number): boolean {
    return this.#channels.get(host)?.isIdle(nowMs) !== false
  }

  forget(host: number): void {
    this.#channels.delete(host)
  }

  #channel(host: number, limits: Limits): HostChannel {
    const known = this.#channels.get(host)
    if (known !== undefined) {
      if (known.limits.creditName !== limits.creditName) known.change(limits.learning())
      return known
    }
    const channel = new HostChannel(host, this.hosts.keyOf(host), limits.learning())
    this.#channels.set(host, channel)
    return channel
  }

  #newName(): string {
    return `${this.#link.worker}.${++this.#slotsGiven}`
  }

  #ledgerNow({ aheadMs = 0 }: HostChannel): number {
    return this.#settings.clock.now() + (this.#link.isLocal ? 0 : aheadMs)
  }

  /**
   * How many slots may be asked for at once: of what departs within the horizon only as much as leaves room for the
   * other processes, who would else find it taken whenever they ask.
   */
  #fairPart({ workers, limits: { declaredGapMs = 0 } }: HostChannel, more: number): number {
    const part = this.#settings.horizonMs / (workers * declaredGapMs)
    return workers < 2 || declaredGapMs === 0 ? more : Math.min(more, Math.floor(part))
  }

  #leave(channel: HostChannel, step: LeaveStep, reportsSent: boolean): Answer<Leave> {
    const { epoch } = channel
    this.#returnSpares(channel)
    const fair = { ...step, more: this.#fairPart(channel, step.more) }
    const answer = this.#link.ask(channel, () => fair)
    return thenAt(answer, (said) => this.#left(channel, step, said as LeaveAnswer, epoch, reportsSent))
  }

  #left(
    channel: HostChannel,
    step: LeaveStep,
    answer: LeaveAnswer,
    epoch: number,
    reportsSent: boolean,
  ): Answer<Leave> {
    if (answer.kind === 'full') {
      this.#askAgainSoon(channel.host)
      return full
    }
    const nowMs = this.#ledgerNow(channel)
    const { isLocal } = this.#link
    answer.spares.forEach(({ waitMs, layer }, index) => {
      const slot = channel.hold(`${step.slot}:${index + 1}`, step, nowMs + waitMs, layer, { isSpare: true, isLocal })
      channel.spares.push(slot)
    })
    if (epoch !== channel.epoch) {
      // What has changed while the answer was on its way, such as a pause, applies to this one, too.
      this.#dropSpares(channel)
      if (answer.kind === 'gone' && channel.limits.isBounded) channel.inFlight--
      return this.#leave(channel, { ...step, kind: 'retry', more: 0 }, reportsSent)
    }
    if (answer.spares.length > 0) this.#dropLateSoon(channel)
    if (answer.kind === 'promised') {
      const { waitMs, layer } = answer
      // What comes before a spare one may be used as that may.
      const isSpare = answer.spares.length > 0
      const slot = channel.hold(step.slot, step, nowMs + waitMs, layer, { isSpare, isLocal })
      return { kind: 'promised', slot, waitMs }
    }
    return this.#gone(channel, channel.hold(step.slot, step, nowMs, 'none', { isLocal }), reportsSent)
  }

  #gone(channel: HostChannel, slot: ChannelSlot, reportsSent: boolean): Leave {
    if (!reportsSent) this.#report(channel, slot, slot.cost, true)
    return { kind: 'gone', slot }
  }

  /** Lets a request go by a slot that need not be asked for again, or tells how long until then. */
  #use(channel: HostChannel, slot: ChannelSlot, reportsSent: boolean): Leave {
    const waitMs = slot.departAtMs - this.#ledgerNow(channel)
    if (waitMs > nanosecondMs) return { kind: 'promised', slot, waitMs }
    return this.#gone(channel, slot, reportsSent)
  }

  /** Tells the ledger that a request has left; late where nobody waits to hear of it, or where it can still be taken back. */
  #report(channel: HostChannel, slot: ChannelSlot | undefined, cost: number, mayBeTakenBack: boolean): void {
    const atMs = this.#settings.clock.now()
    if (slot?.isLocal === true) {
      channel.slots.delete(slot.name)
      channel.spend(atMs, cost)
      this.#link.tellSpent(channel)
      if (!this.#link.isLocal) return
    }
    const makeStep = (nowMs: number) => ({ kind: 'sent', slot: slot?.name ?? '', cost, agoMs: nowMs - atMs }) as const
    // A spare one is there only where nobody waits to hear of it.
    const isSpare = slot?.isSpare === true
    if (!isSpare && !mayBeTakenBack) this.#link.tell(channel, makeStep, slot)
    else this.#link.tellLate(channel, makeStep, slot, isSpare ? lateReportMs : 0)
  }

  #isLate(channel: HostChannel, slot: ChannelSlot): boolean {
    return this.#ledgerNow(channel) > slot.departAtMs + this.#settings.horizonMs
  }

  /** What was promised ahead is worth nothing any more. */
  #dropSpares(channel: HostChannel): void {
    channel.epoch++
    for (const slot of channel.spares.splice(0)) this.giveBack(channel.host, channel.limits, slot)
  }

  /** Whoever asks has come too late for them, or is of another cost: they go back, and what is promised then comes in its place. */
  #returnSpares(channel: HostChannel): void {
    for (const slot of channel.spares.splice(0)) {
      channel.slots.delete(slot.name)
      this.#link.tellLate(channel, () => ({ kind: 'giveBack', slot: slot.name }), slot, 0)
    }
  }

  /** Those that nobody has come for go back. */
  #dropLateSoon(channel: HostChannel): void {
    const { clock, horizonMs } = this.#settings
    const timer = clock.setTimer(() => {
      const late = channel.spares.filter((slot) => this.#isLate(channel, slot))
      channel.spares = channel.spares.filter((slot) => !late.includes(slot))
      for (const slot of late) this.giveBack(channel.host, channel.limits, slot)
      if (channel.spares.length > 0) this.#dropLateSoon(channel)
    }, horizonMs)
    ;(timer as { unref?(): void } | undefined)?.unref?.()
  }

  #askAgainSoon(host: number): void {
    if (this.#full.has(host)) return
    this.#full.add(host)
    this.#settings.clock.setTimer(() => {
      this.#full.delete(host)
      this.hosts.freed(host)
    }, fullMs)
  }
}

/** Goes on with an answer: at once if it is there. */
function thenAt<T, U>(answer: Answer<T>, next: (value: T) => Answer<U>): Answer<U> {
  return answer instanceof Promise ? answer.then(next) : next(answer)
}
