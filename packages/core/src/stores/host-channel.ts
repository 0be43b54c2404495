import type { LayerName } from '../layers/layer.ts'
import { type Learned, shiftLearned } from '../learning/learned.ts'
import type { Limits } from '../limits.ts'
import type { Slot } from '../slot.ts'
import type { LedgerAnswers, Step, StepAnswer } from './ledger.ts'
import type { Answer } from './store.ts'

/** So many departures are remembered one by one that the ledger could not be asked for. */
const mostSpent = 10_000

/** A slot of this process in a ledger. */
export interface ChannelSlot extends Slot {
  readonly name: string
  /** Whether it may be used at its time without asking again. */
  readonly isSpare: boolean
  /** What the `epoch` of the channel was when it was promised. */
  readonly epoch: number
  /** Whether it was given by the ledger of this process alone. */
  readonly isLocal: boolean
}

/** Makes a step at the moment when it is sent: some of them say how long ago something was. */
export type StepMaker = (nowMs: number) => Step

/** A step on its way to a ledger, and whoever waits for what comes of it. */
export class Question {
  readonly limits: Limits
  readonly makeStep: StepMaker
  /** The slot that it is about. */
  readonly slot: ChannelSlot | undefined
  /** Whether somebody waits for the answer. Else it may be asked twice, should nobody know what has become of it. */
  readonly isAsked: boolean
  #isAnswered = false
  #answer: StepAnswer
  #resolve: ((answer: StepAnswer) => void) | undefined
  #reject: ((error: unknown) => void) | undefined

  constructor(limits: Limits, makeStep: StepMaker, isAsked: boolean, slot?: ChannelSlot) {
    this.limits = limits
    this.makeStep = makeStep
    this.isAsked = isAsked
    this.slot = slot
  }

  /** The answer: at once if it is there already. */
  get answer(): Answer<StepAnswer> {
    if (this.#isAnswered) return this.#answer
    return new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  settle(answer: StepAnswer): void {
    this.#isAnswered = true
    this.#answer = answer
    this.#resolve?.(answer)
  }

  fail(error: unknown): void {
    this.#reject?.(error)
  }
}

/** What this process last saw of the state of a host. */
export interface Knowledge {
  readonly seq: number
  readonly credits: readonly number[]
  /** When the state says no more than that of a host never asked, on the clock of this process. */
  readonly expiresAtMs: number
}

/** What a shared store keeps of one host in this process: what it has of it, and what is on its way. */
export class HostChannel {
  readonly host: number
  readonly key: string
  limits: Limits
  /** Permits that this process holds. */
  inFlight = 0
  /** The slots of this process that the ledger keeps for it. */
  readonly slots: Map<string, ChannelSlot> = new Map()
  /** Those that nobody has taken yet, in the order of their times. */
  spares: ChannelSlot[] = []
  /** What is to be asked next. */
  questions: Question[] = []
  isBusy = false
  /** Whether the number of permits is another than the ledger was last told. */
  hasNews = false
  knowledge: Knowledge | undefined
  /** The clock of the ledger is so far ahead of that of this process; `undefined` before it has answered. */
  aheadMs: number | undefined
  workers = 0
  pauseVersion: number | undefined
  learnedVersion = 0
  /** What was learned, on the clock of this process. */
  learned: Learned = {}
  /** Whether a call has failed since the ledger was last told which slots this process still has. */
  hasLostTrack = false
  /** What has departed while the ledger could not be asked. */
  #spent: { atMs: number; cost: number }[] = []
  /** What the ledger is to be told once it can be asked again. */
  owed: Question[] = []
  /** It changes with all that makes slots worthless which have not come yet. */
  epoch = 0

  constructor(host: number, key: string, limits: Limits) {
    this.host = host
    this.key = key
    this.limits = limits
  }

  /** Whether there is nothing that must not be forgotten. */
  isIdle(nowMs: number): boolean {
    const { isBusy, hasNews, questions, owed, inFlight, slots, knowledge } = this
    if (isBusy || hasNews || questions.length + owed.length + this.#spent.length + slots.size + inFlight > 0)
      return false
    return knowledge === undefined || knowledge.expiresAtMs <= nowMs
  }

  /** Whether the ledger has to hear now and then that this process is alive. */
  get holdsSomething(): boolean {
    return this.inFlight > 0 || this.slots.size > 0
  }

  /** Whether one departure has to keep away from the next, by what is declared or learned. */
  get hasGap(): boolean {
    const { policy, declaredGapMs } = this.limits
    return policy.intervalMs !== undefined || declaredGapMs === undefined || (this.learned.gap?.gapMs ?? 0) > 0
  }

  /** Other limits count from now on. */
  change(limits: Limits): void {
    this.limits = limits
    this.knowledge = undefined
  }

  /** Takes in what a ledger says of the state. @returns whether a pause came, ended or changed by somebody else's doing */
  hear(reply: LedgerAnswers, limits: Limits, nowMs: number): { isPauseNews: boolean; learned: Learned | undefined } {
    this.aheadMs = reply.nowMs - nowMs
    this.workers = reply.workers
    if (limits.creditName === this.limits.creditName) {
      const { seq, credits, expiresInMs } = reply
      this.knowledge = { seq, credits, expiresAtMs: nowMs + expiresInMs }
    }
    const isPauseNews = this.pauseVersion !== undefined && this.pauseVersion !== reply.pauseVersion
    this.pauseVersion = reply.pauseVersion
    this.learnedVersion = reply.learnedVersion
    if (reply.learned === undefined) return { isPauseNews, learned: undefined }
    const learned = shiftLearned(reply.learned, nowMs)
    this.learned = learned
    return { isPauseNews, learned }
  }

  /** Notes a slot that the ledger has promised. */
  hold(
    name: string,
    { cost, order }: { cost: number; order: number },
    departAtMs: number,
    layer: LayerName,
    { isSpare = false, isLocal = false, held = true }: { isSpare?: boolean; isLocal?: boolean; held?: boolean } = {},
  ): ChannelSlot {
    const slot: ChannelSlot = { name, departAtMs, order, layer, cost, held, isSpare, isLocal, epoch: this.epoch }
    this.slots.set(name, slot)
    return slot
  }

  /** A slot for one who would else have to ask. */
  takeSpare(cost: number): ChannelSlot | undefined {
    return this.spares[0]?.cost === cost ? this.spares.shift() : undefined
  }

  /** Notes a departure that the ledger could not be asked for. */
  spend(atMs: number, cost: number): void {
    this.#spent.push({ atMs, cost })
    const [first, second] = this.#spent
    // Of very many the oldest are taken together, as if they had left later.
    if (this.#spent.length > mostSpent && first !== undefined && second !== undefined) {
      this.#spent.shift()
      second.cost += first.cost
    }
  }

  /** The step that tells the ledger of what it could not be asked for; `undefined` if there is nothing to tell. */
  takeSpent(): StepMaker | undefined {
    const spent = this.#spent
    if (spent.length === 0) return undefined
    this.#spent = []
    return (nowMs) => ({ kind: 'spent', departures: spent.map(({ atMs, cost }) => ({ agoMs: nowMs - atMs, cost })) })
  }
}
