import type { LedgerCall, LedgerReply, Limits, Step } from '@hostpace/core/stores'
import { layerListJson, layerListOf } from './layer-list.ts'
import { LedgerKeys } from './ledger-keys.ts'

/** What the calls of one run give to the script. */
export class CallBatch {
  readonly keys: string[] = []
  readonly #clockMs: number | undefined
  readonly #prefix: string
  readonly #calls: string[] = []
  /** Each policy once, however many hosts have it, with its place. */
  readonly #layerLists = new Map<string, number>()

  /** @param clockMs the time in place of the server's, for tests */
  constructor(prefix: string, clockMs: number | undefined) {
    this.#prefix = prefix
    this.#clockMs = clockMs
  }

  /** @param number higher than that of any call of this process before */
  add(call: LedgerCall, number: number): void {
    const keys = keysOf(call, new LedgerKeys(this.#prefix, call.key))
    this.keys.push(...keys)
    this.#calls.push(callJson(call, number, keys.length, this.#placeOf(call.limits)))
  }

  /** What the script takes beside the keys: the time, the policies, and each call. */
  get args(): string[] {
    return [String(this.#clockMs ?? ''), `[${[...this.#layerLists.keys()].join(',')}]`, ...this.#calls]
  }

  /** What the script replies, call by call; an error for one that failed. */
  static replies(said: unknown): (LedgerReply | Error)[] {
    return (said as unknown[]).map((text) => {
      const reply = JSON.parse(String(text)) as LedgerReply | { readonly error: string }
      return 'error' in reply ? new Error(reply.error) : reply
    })
  }

  #placeOf(limits: Limits): number {
    const list = layerListJson(limits)
    const place = this.#layerLists.get(list) ?? this.#layerLists.size + 1
    this.#layerLists.set(list, place)
    return place
  }
}

/** The keys of the host, of its state, and of the states that are adopted, in the order of the steps. */
function keysOf({ limits, steps }: LedgerCall, keys: LedgerKeys): string[] {
  return [keys.host, ...keys.of(limits), ...steps.flatMap((step) => (step.kind === 'adopt' ? keys.of(step.from) : []))]
}

function callJson(call: LedgerCall, number: number, keys: number, limits: number): string {
  const { worker, leaseMs, horizonMs, inFlight, seq, learnedVersion, keep, credits } = call
  const steps = call.steps.map(stepArgument)
  return JSON.stringify({
    number,
    keys,
    limits,
    worker,
    leaseMs,
    horizonMs,
    inFlight,
    seq,
    learnedVersion,
    keep,
    credits,
    steps,
  })
}

/** Infinity is no JSON: an order of those who come last is null. */
function stepArgument(step: Step): object {
  return step.kind === 'adopt' ? { kind: 'adopt', from: layerListOf(step.from).layers } : step
}
