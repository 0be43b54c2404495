import { StoreError } from '../errors.ts'
import type { HostTable } from '../host-table.ts'
import { type Learned, shiftLearned } from '../learning/learned.ts'
import { type ChannelSlot, type HostChannel, Question, type StepMaker } from './host-channel.ts'
import type { Ledger, LedgerAnswers, LedgerCall, LedgerReply, Step, StepAnswer } from './ledger.ts'
import { MemoryLedger } from './memory-ledger.ts'
import type { SharedSettings } from './shared-options.ts'
import { type Answer, answerOf } from './store.ts'

/** How long after a failure the ledger is asked again whether it is back. */
const probeMs = 500

/**
 * How long after the ledger is back each process keeps to its share and tells of all it sends: by then the others have
 * noticed, too, and have told what they had sent.
 */
const reportingMs = 1000

/** How many processes are taken to share a host as long as the ledger has never said. */
const unseenWorkers = 4

/**
 * Brings the questions of this process to a ledger: those of one host together and one call after another. When the
 * ledger fails, it paces in this process until it is back, or does what else the settings say.
 */
export class LedgerLink {
  readonly #ledger: Ledger
  readonly #local: MemoryLedger
  readonly #settings: SharedSettings
  readonly #hosts: HostTable
  readonly #channels: ReadonlyMap<number, HostChannel>
  readonly #worker = crypto.randomUUID()
  #isDown = false
  /** Whether the ledger is back and is being told of what it has missed. */
  #isReporting = false
  #isClosed = false
  /** The channels that have been told of the share that is theirs in this outage. */
  #sharing = new Set<HostChannel>()
  #probe: unknown
  #heartbeat: unknown
  readonly #late = new Set<HostChannel>()
  #lateTimer: unknown

  constructor(ledger: Ledger, settings: SharedSettings, hosts: HostTable, channels: ReadonlyMap<number, HostChannel>) {
    this.#ledger = ledger
    this.#settings = settings
    this.#hosts = hosts
    this.#channels = channels
    this.#local = new MemoryLedger(settings.clock)
  }

  /** Whether this process paces alone for now. */
  get isLocal(): boolean {
    return this.#isDown && this.#settings.onStoreError === 'local'
  }

  /** The name of this process, with which those of its slots begin. */
  get worker(): string {
    return this.#worker
  }

  /** Asks, and waits for the answer. */
  ask(channel: HostChannel, makeStep: StepMaker): Answer<StepAnswer> {
    const question = new Question(channel.limits, makeStep, true)
    channel.questions.push(question)
    this.flush(channel)
    return question.answer
  }

  /** Tells, and waits for nothing. */
  tell(channel: HostChannel, makeStep: StepMaker, slot?: ChannelSlot): void {
    channel.questions.push(new Question(channel.limits, makeStep, false, slot))
    this.flush(channel)
  }

  /** Tells what was sent without the ledger, once it can hear it. */
  tellSpent(channel: HostChannel): void {
    if (this.#isDown && !this.#isReporting) return
    const spent = channel.takeSpent()
    if (spent !== undefined) channel.owed.push(new Question(channel.limits, spent, false))
    this.flush(channel)
  }

  /** Tells within `delayMs`, or with the next question. */
  tellLate(channel: HostChannel, makeStep: StepMaker, slot: ChannelSlot | undefined, delayMs: number): void {
    channel.questions.push(new Question(channel.limits, makeStep, false, slot))
    this.#late.add(channel)
    this.#lateTimer ??= this.#settings.clock.setTimer(() => this.#flushLate(), delayMs)
  }

  /** Tells how many permits this process holds, which every call does. */
  touch(channel: HostChannel): void {
    channel.hasNews = true
    this.flush(channel)
  }

  /** Sends what is to be asked, unless a call is under way, with which the next then goes. */
  flush(channel: HostChannel): void {
    this.#beat()
    if (!channel.isBusy && channel.owed.length > 0 && (!this.#isDown || this.#isReporting)) {
      this.#call(channel, channel.owed.splice(0))
    }
    while (!channel.isBusy && (channel.questions.length > 0 || channel.hasNews)) {
      if (this.isLocal) this.#askLocally(channel, channel.questions.splice(0))
      else if (this.#isDown && this.#settings.onStoreError === 'wait') return
      else this.#call(channel, takeBatch(channel))
    }
  }

  async close(): Promise<void> {
    this.#flushLate()
    this.#isClosed = true
    const { clock } = this.#settings
    clock.clearTimer(this.#probe)
    clock.clearTimer(this.#heartbeat)
    this.#local.close()
    await this.#ledger.close()
  }

  #flushLate(): void {
    this.#settings.clock.clearTimer(this.#lateTimer)
    this.#lateTimer = undefined
    const channels = [...this.#late]
    this.#late.clear()
    for (const channel of channels) this.flush(channel)
  }

  #call(channel: HostChannel, batch: readonly Question[], credits?: readonly number[]): void {
    const limits = batch[0]?.limits ?? channel.limits
    channel.hasNews = false
    const call = this.#callOf(channel, limits, batch, credits)
    const reply = answerOf(() => this.#ledger.decide(call))
    if (!(reply instanceof Promise)) {
      this.#hear(channel, call, batch, reply)
      return
    }
    channel.isBusy = true
    this.#inTime(reply).then(
      (answers) => {
        channel.isBusy = false
        this.#hear(channel, call, batch, answers)
        this.flush(channel)
      },
      (error: unknown) => {
        channel.isBusy = false
        this.#failed(channel, batch, error)
        // What is only told waits for the next question, so that a ledger that is gone is not asked without end.
        if (channel.questions.some(({ isAsked }) => isAsked)) this.flush(channel)
      },
    )
  }

  #callOf(
    channel: HostChannel,
    limits: LedgerCall['limits'],
    batch: readonly Question[],
    credits: readonly number[] | undefined,
  ): LedgerCall {
    const { clock, leaseMs, horizonMs } = this.#settings
    const nowMs = clock.now()
    const { key, inFlight, knowledge, learnedVersion, slots, hasLostTrack } = channel
    const isKnown = limits === channel.limits && knowledge !== undefined && knowledge.expiresAtMs > nowMs
    const steps = batch.map(({ makeStep }) => makeStep(nowMs))
    return {
      key,
      limits,
      worker: this.#worker,
      leaseMs,
      horizonMs,
      inFlight,
      seq: isKnown ? knowledge.seq : 0,
      learnedVersion,
      keep: isKnown && !hasLostTrack ? undefined : namesOf(slots, steps),
      credits,
      steps,
    }
  }

  #hear(channel: HostChannel, call: LedgerCall, batch: readonly Question[], reply: LedgerReply): void {
    if (reply.lost === true) {
      channel.hasLostTrack = true
      this.#call(channel, batch, channel.knowledge?.credits ?? [])
      return
    }
    channel.hasLostTrack = false
    const news = channel.hear(reply, call.limits, this.#settings.clock.now())
    batch.forEach((question, index) => {
      if (question.slot !== undefined) channel.slots.delete(question.slot.name)
      settle(channel, question, reply.answers[index])
    })
    if (news.learned !== undefined) this.#hosts.taught(channel.host, news.learned)
    if (news.isPauseNews) this.#hosts.changed(channel.host)
    if (this.#isDown && !this.#isReporting) this.#reportAll(channel)
  }

  /** Nobody knows what has become of the call. What was only told is told again; what was asked is not, or elsewhere. */
  #failed(channel: HostChannel, batch: readonly Question[], error: unknown): void {
    channel.hasLostTrack = true
    const { onStoreError } = this.#settings
    const asked = batch.filter(({ isAsked }) => isAsked)
    const told = batch.filter(({ isAsked }) => !isAsked)
    if (onStoreError === 'throw' || this.#isClosed) {
      channel.questions.unshift(...told)
      for (const question of asked) question.fail(error)
      return
    }
    this.#goDown(channel, error)
    if (this.#isReporting) {
      this.#isReporting = false
      this.#probeSoon(channel)
    }
    if (onStoreError === 'wait') {
      channel.questions.unshift(...batch)
    } else {
      channel.owed.push(...told)
      channel.questions.unshift(...asked)
    }
  }

  #goDown(channel: HostChannel, cause: unknown): void {
    if (this.#isDown) return
    this.#isDown = true
    const error = cause instanceof StoreError ? cause : new StoreError('The store of the credit failed', { cause })
    this.#hosts.failed(channel.host, error)
    this.#probeSoon(channel)
    for (const other of this.#channels.values()) this.flush(other)
  }

  #probeSoon(channel: HostChannel): void {
    const timer = this.#settings.clock.setTimer(() => {
      if (this.#isClosed) return
      const call = this.#callOf(channel, channel.limits, [], channel.knowledge?.credits)
      const reply = answerOf(() => this.#ledger.decide(call))
      this.#inTime(Promise.resolve(reply)).then(
        (answers) => this.#hear(channel, call, [], answers),
        () => this.#probeSoon(channel),
      )
    }, probeMs)
    this.#probe = timer
    // Whoever waits for the ledger keeps the process alive; one that could go on without does not.
    if (this.isLocal) idly(timer)
  }

  /** The ledger answers again: it is told of what it has missed, and a little later those who wait ask it. */
  #reportAll(channel: HostChannel): void {
    if (this.#settings.onStoreError === 'wait') {
      this.#isBack()
      return
    }
    this.#isReporting = true
    for (const other of [...this.#channels.values()]) this.tellSpent(other)
    this.#settings.clock.clearTimer(this.#probe)
    this.#probe = this.#settings.clock.setTimer(() => {
      if (this.#isReporting && !this.#isClosed) this.#isBack()
    }, reportingMs)
    if (!channel.holdsSomething) idly(this.#probe)
  }

  #isBack(): void {
    this.#isDown = false
    this.#isReporting = false
    this.#sharing = new Set()
    this.#local.clear()
    for (const channel of [...this.#channels.values()]) {
      for (const slot of channel.slots.values()) if (slot.isLocal) channel.slots.delete(slot.name)
      this.tellSpent(channel)
      this.#hosts.changed(channel.host)
    }
  }

  /** Paces in this process by its share of the limits. */
  #askLocally(channel: HostChannel, batch: readonly Question[]): void {
    const nowMs = this.#settings.clock.now()
    channel.hasNews = false
    const { key, inFlight, knowledge } = channel
    const workers = channel.workers === 0 ? unseenWorkers : channel.workers
    const isNew = !this.#sharing.has(channel)
    this.#sharing.add(channel)
    const isKnown = knowledge !== undefined && knowledge.expiresAtMs > nowMs
    const credits = isNew && isKnown ? knowledge.credits.map((credit) => Math.floor(credit / workers)) : undefined
    const lesson = isNew
      ? [{ kind: 'learn', learned: shiftLearned(shareOfLearned(channel.learned, workers), -nowMs) } as const]
      : []
    const steps = batch.map(({ makeStep }) => makeStep(nowMs))
    const reply = this.#local.decide({
      key,
      limits: channel.limits.shareOf(workers),
      worker: this.#worker,
      leaseMs: Number.MAX_SAFE_INTEGER,
      horizonMs: 0,
      inFlight,
      seq: credits === undefined ? 0 : 1,
      learnedVersion: 0,
      credits,
      steps: [...lesson, ...steps],
    }) as LedgerAnswers
    batch.forEach((question, index) => {
      const { isAsked, slot } = question
      if (!isAsked && slot?.isLocal !== true) channel.owed.push(question)
      settle(channel, question, reply.answers[index + lesson.length])
    })
  }

  /** As long as this process holds anything, the ledger hears of it now and then. */
  #beat(): void {
    if (this.#heartbeat !== undefined || this.#isClosed) return
    const { clock, leaseMs } = this.#settings
    this.#heartbeat = clock.setTimer(() => {
      this.#heartbeat = undefined
      if (this.#isDown) return
      for (const channel of [...this.#channels.values()]) {
        if (channel.holdsSomething && !channel.isBusy) this.#call(channel, takeBatch(channel))
        if (channel.holdsSomething) this.#beat()
      }
    }, leaseMs / 3)
    idly(this.#heartbeat)
  }

  async #inTime<T>(answer: Promise<T>): Promise<T> {
    const { clock, timeoutMs } = this.#settings
    let timer: unknown
    const late = new Promise<never>((_, reject) => {
      const fail = () => reject(new StoreError(`The store of the credit did not answer within ${timeoutMs} ms`))
      timer = clock.setTimer(() => {
        // Where this process has stood still, the answer is there already and has only not been read yet.
        timer = clock.setTimer(fail, 0)
      }, timeoutMs)
    })
    try {
      return await Promise.race([answer, late])
    } finally {
      clock.clearTimer(timer)
    }
  }
}

/** Gives an answer. What a call says of permits has to count before the next one goes. */
function settle(channel: HostChannel, question: Question, answer: StepAnswer): void {
  if (answer?.kind === 'gone' && question.limits.isBounded) channel.inFlight++
  question.settle(answer)
}

/** The first questions of a channel that are about the same limits. */
function takeBatch(channel: HostChannel): Question[] {
  const limits = channel.questions[0]?.limits
  const end = channel.questions.findIndex((question) => question.limits !== limits)
  return channel.questions.splice(0, end < 0 ? channel.questions.length : end)
}

/** The slots that a process has, and those that it is about to give up. */
function namesOf(slots: ReadonlyMap<string, ChannelSlot>, steps: readonly Step[]): string[] {
  const names = [...slots.values()].flatMap(({ name, isLocal }) => (isLocal ? [] : [name]))
  for (const step of steps) {
    if (step.kind === 'retry' || step.kind === 'sent' || step.kind === 'giveBack') names.push(step.slot)
  }
  return names
}

function shareOfLearned({ gap, published = [] }: Learned, workers: number): Learned {
  return {
    ...(gap && { gap: { ...gap, gapMs: gap.gapMs * workers } }),
    published: published.map((limit) => ({
      ...limit,
      remaining: limit.remaining === undefined ? undefined : Math.floor(limit.remaining / workers),
    })),
  }
}

/** A timer that does not keep the process alive. */
function idly(timer: unknown): void {
  ;(timer as { unref?(): void } | undefined)?.unref?.()
}
