import { type HeaderCarrier, type Pacer, type Permit, takeHandover } from '@hostpace/core'
import type { AnyHandler, Dispatch, DispatchOptions } from './dispatch.ts'
import { MissingOriginError, outcomeOf, RequestAbortedError } from './errors.ts'
import { type Grant, grantsKey, promiseSent, takeGrant, tellSent, withGrant } from './grant.ts'
import { isLate, watchFlow } from './late-body.ts'
import { waitOptionsOf } from './request-options.ts'
import { WaitSignal } from './wait-signal.ts'
import { watchWait } from './watch-wait.ts'

/** How long a request whose body gives nothing keeps the others waiting: as long as undici takes for a connection. */
const mostPatienceMs = 10_000

/** The way that a request takes through the interceptor. */
export interface Lane {
  readonly pacer: Pacer
  readonly dispatch: Dispatch
  readonly options: DispatchOptions
  /** The URL it goes to; `undefined` if nothing says so. */
  readonly target: string | undefined
}

/**
 * One request on its way: it waits, is dispatched, is written, is answered and is over.
 *
 * Its handler is told of the start before the wait, with something to abort by that stays good until
 * the end: undici and fetch have no other way to give up a request. The start that undici announces when
 * it writes the request then only ties the two together.
 */
export abstract class PacedRequest {
  isAborted = false
  abortReason: unknown
  readonly #lane: Lane
  readonly #cancelWait = new WaitSignal()
  readonly #context = {}
  #grant: Grant | undefined
  /** The options as they were dispatched, with all that pacers granted. */
  #dispatched: DispatchOptions | undefined
  /** Gives up what has been dispatched, once undici has started it. */
  #abortStarted: ((reason: unknown) => void) | undefined
  /** It is being written, and those who granted it are to be told. */
  #isToTell = false
  /** It has started, but is written only with the first chunk of its body. */
  #isBodyLate = false
  #patience: NodeJS.Timeout | undefined
  #isAnnounced = false
  #isAnswered = false
  #isOver = false
  #hasFailed = false

  constructor(lane: Lane) {
    this.#lane = lane
  }

  /** Tells the handler that the request has started. */
  protected abstract tellStart(context: object): void
  /** Tells the handler that the request has failed. */
  protected abstract tellError(error: unknown): void

  /** Sends the request on as soon as it may leave. */
  go(): boolean {
    const { pacer, options, target } = this.#lane
    promiseSent(options)
    const granted = takeGrant(options, pacer)
    if (granted !== undefined) return this.#dispatch(granted)
    if (target !== undefined && takeHandover(pacer, target)) return this.#dispatch(undefined)
    this.#announce()
    if (target === undefined) this.fail(new MissingOriginError())
    else if (!this.#isOver) void this.#wait(target)
    return true
  }

  /** Gives the request up, wherever it is. */
  abort(reason?: unknown): void {
    if (this.isAborted || this.#isOver) return
    this.isAborted = true
    this.abortReason = reason ?? new RequestAbortedError()
    if (this.#abortStarted === undefined) this.fail(this.abortReason)
    else this.#abortStarted(this.abortReason)
  }

  /** undici has started the request and writes it next, unless a pacer further inside lets it wait. */
  protected started(abort: (reason: unknown) => void, context: unknown): void {
    this.#abortStarted = abort
    Object.assign(this.#context, context)
    if (this.isAborted) {
      abort(this.abortReason)
      return
    }
    if (this.#isBodyLate) this.#patience = setTimeout(() => this.#written(setImmediate), mostPatienceMs).unref()
    else this.#written(queueMicrotask)
    this.#announce()
  }

  /** The body gives its first chunk, or ends without one. */
  #flows(): void {
    if (this.#abortStarted === undefined) this.#isBodyLate = false
    else if (this.#isBodyLate && !this.#isOver) this.#written(setImmediate)
  }

  /** @param defer until after the write: should this process lose its processor before it, the gap still holds */
  #written(defer: (tell: () => void) => unknown): void {
    this.#endPatience()
    if (this.#grant?.isSentInside === true) return
    this.#isToTell = true
    defer(() => this.#tellSent())
  }

  #endPatience(): void {
    this.#isBodyLate = false
    clearTimeout(this.#patience)
  }

  /** Who answers was asked, whatever came of the body: over HTTP/2 the head goes ahead of it. */
  #tellAnswered(): void {
    if (this.#isBodyLate) this.#written(setImmediate)
    this.#tellSent()
  }

  protected answered(status: number, headers: HeaderCarrier): void {
    // Informational answers come before the answer.
    if (status < 200) return
    this.#isAnswered = true
    this.#tellAnswered()
    const sentAtMs = this.#grant?.sentAtMs
    const latencyMs = sentAtMs === undefined ? undefined : performance.now() - sentAtMs
    this.#ownPermit?.observe({ status, headers, latencyMs })
  }

  /** What follows is no HTTP, so as a request it is over. */
  protected upgraded(status: number, headers: HeaderCarrier): void {
    this.#tellAnswered()
    this.#ownPermit?.observe({ status, headers })
    this.ended()
  }

  protected ended(): void {
    this.#tellAnswered()
    this.#isOver = true
    this.#ownPermit?.done()
  }

  /** Also after the end: a retry interceptor throws where it is told of the end, and expects to hear of that as an error. */
  fail(error: unknown): void {
    if (this.#hasFailed) return
    this.#hasFailed = true
    this.#end(error)
    this.tellError(error)
  }

  #end(error: unknown): void {
    if (this.#isOver) return
    this.#endPatience()
    this.#tellSent()
    this.#isOver = true
    this.#cancelWait.abort(error)
    if (this.isAborted) this.#grant?.permit.done()
    else this.#ownPermit?.done(this.#isAnswered ? { error } : outcomeOf(error))
  }

  /** Once, and before anything else is said of a request: it may be over in the very turn in which it is written. */
  #tellSent(): void {
    if (!this.#isToTell) return
    this.#isToTell = false
    tellSent(this.#dispatched?.[grantsKey])
  }

  /** The permit, unless another interceptor for the same pacer looks after it. */
  get #ownPermit(): Permit | undefined {
    return this.#grant?.isTaken ? undefined : this.#grant?.permit
  }

  #announce(): void {
    if (this.#isAnnounced) return
    this.#isAnnounced = true
    this.tellStart(this.#context)
  }

  async #wait(target: string): Promise<void> {
    const { pacer, options } = this.#lane
    const stopWatching = watchWait(options, this)
    let permit: Permit | undefined
    try {
      permit = await pacer.wait(target, waitOptionsOf(options, this.#cancelWait.asSignal))
    } catch (error) {
      // What is not a URL is for the client to complain about, which it does without sending anything.
      if (URL.canParse(target)) this.fail(error)
    }
    stopWatching()
    if (this.#isOver) permit?.done()
    else this.#dispatch(permit)
  }

  #dispatch(permit: Permit | undefined): boolean {
    const { pacer, dispatch, options } = this.#lane
    this.#dispatched = options
    if (permit !== undefined) {
      this.#grant = { pacer, permit, sentAtMs: undefined, isSentInside: false, isTaken: false }
      this.#dispatched = withGrant(options, this.#grant, this.#watched(options.body))
    }
    try {
      return dispatch(this.#dispatched, this as unknown as AnyHandler)
    } catch (error) {
      this.fail(error)
      return false
    }
  }

  #watched(body: unknown): unknown {
    if (!isLate(body)) return body
    this.#isBodyLate = true
    return watchFlow(body, () => this.#flows())
  }
}
