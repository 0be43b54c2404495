import { type AbortListener, unwatchAbort, watchAbort } from './abort-watch.ts'
import type { AsyncScope } from './async-hooks.ts'
import { checkCost, nonNegativeNumber, show } from './checks.ts'
import { PolicyError } from './errors.ts'
import type { HostPermit } from './host-permit.ts'
import type { WaitOptions } from './pacer-options.ts'
import type { Waiting } from './waiting-line.ts'

/** What a waiter tells when it gives up. */
export interface WaiterOwner {
  abandon(waiter: Waiter): void
}

/** One request that waits to leave, with the promise that its caller holds. */
export class Waiter implements Waiting, AbortListener {
  readonly priority: number
  readonly cost: number
  readonly maxWaitMs: number | undefined
  readonly reportsSent: boolean
  readonly sinceMs: number
  /** Where the request goes. */
  readonly url: string | URL | undefined
  /** Which in the order of arrivals it is. */
  readonly order: number
  /** The permit of its resource, if it had to wait for that first. */
  readonly lane: HostPermit | undefined
  /** The async context of its caller, where somebody listens who may want it. */
  readonly scope: AsyncScope | undefined
  isInLine = false
  /** Whether it was counted when the line's departures were foretold. */
  isForetold = false
  next: this | undefined
  previous: this | undefined

  readonly promise: Promise<HostPermit>
  #resolve!: (permit: HostPermit) => void
  #reject!: (error: unknown) => void
  readonly #signal: AbortSignal | undefined
  readonly #owner: WaiterOwner

  constructor(
    owner: WaiterOwner,
    options: WaitOptions,
    sinceMs: number,
    order: number,
    url: string | URL | undefined,
    lane: HostPermit | undefined,
    scope: AsyncScope | undefined,
  ) {
    this.#owner = owner
    this.priority = options.priority ?? 0
    this.cost = options.cost ?? 1
    this.maxWaitMs = options.maxWaitMs
    this.reportsSent = options.reportsSent ?? false
    this.sinceMs = sinceMs
    this.url = url
    this.order = order
    this.lane = lane
    this.scope = scope
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#signal = options.signal ?? undefined
    if (this.#signal !== undefined) watchAbort(this.#signal, this)
  }

  /** What it says of itself, for a line elsewhere. */
  get options(): WaitOptions {
    const { priority, cost, maxWaitMs, reportsSent } = this
    return { priority, cost, maxWaitMs, reportsSent, signal: this.#signal }
  }

  /** What its signal was aborted with. */
  get abortReason(): unknown {
    return this.#signal?.reason
  }

  aborted(): void {
    this.#owner.abandon(this)
  }

  admit(permit: HostPermit): void {
    this.#unwatch()
    this.#resolve(permit)
  }

  refuse(error: unknown): void {
    this.#unwatch()
    this.#reject(error)
  }

  #unwatch(): void {
    if (this.#signal !== undefined) unwatchAbort(this.#signal, this)
  }
}

const waitOptions: ReadonlySet<string> = new Set<keyof WaitOptions>([
  'signal',
  'priority',
  'cost',
  'maxWaitMs',
  'key',
  'reservation',
  'reportsSent',
  'request',
])

function unknownOption(name: string): PolicyError {
  return new PolicyError(name, `is unknown; known here are ${[...waitOptions].join(', ')}`)
}

/**
 * Checks what a request says of itself.
 *
 * @param maxCost the most that its host can ever let go at once
 * @throws {PolicyError} that names the option
 */
export function checkWaitOptions(options: WaitOptions, maxCost: number): void {
  for (const name in options) if (!waitOptions.has(name)) throw unknownOption(name)
  const { cost, signal } = options
  if (cost !== undefined) checkCost(cost, maxCost)
  checkSharedOptions(options, '')
  if (signal != null && typeof signal.addEventListener !== 'function') {
    throw new PolicyError('signal', `must be an AbortSignal, got ${show(signal)}`)
  }
}

/**
 * Checks the options that `wait` and adapters take alike.
 *
 * @param at what goes before their names
 */
export function checkSharedOptions({ priority, maxWaitMs, reservation }: WaitOptions, at: string): void {
  if (priority !== undefined && !Number.isFinite(priority)) {
    throw new PolicyError(`${at}priority`, `must be a finite number, got ${show(priority)}`)
  }
  if (maxWaitMs !== undefined) nonNegativeNumber(maxWaitMs, `${at}maxWaitMs`)
  if (reservation !== undefined && typeof reservation?.cancel !== 'function') {
    throw new PolicyError(`${at}reservation`, `must be what reserve() gave, got ${show(reservation)}`)
  }
}

/** Refuses a key that is not a text, or an empty one. */
export function checkKey(key: unknown, path: string): string {
  if (typeof key === 'string' && key !== '') return key
  throw new PolicyError(path, `must be a text that is not empty, got ${show(key)}`)
}
