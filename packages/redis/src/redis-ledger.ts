import type { Ledger, LedgerCall, LedgerReply, Limits, Step } from '@hostpace/core/stores'
import { layerListJson, layerListOf } from './layer-list.ts'
import { LedgerKeys } from './ledger-keys.ts'
import type { ScriptRunner } from './redis-client.ts'
import { script, scriptSha1 } from './script/index.ts'

/** A connection that cannot write is made anew, but not more often than this. */
const reconnectMs = 1000

/**
 * Keeps the credit of hosts in a Redis or Valkey: each call is one run of one script, on the clock of the server.
 *
 * The script is sent in full when the server does not know it, which it says before it does anything. No other call is
 * ever made twice; should the client send one again whose answer it has lost, the script refuses it.
 */
export class RedisLedger implements Ledger {
  readonly #runner: ScriptRunner
  readonly #prefix: string
  readonly #clockMs: (() => number) | undefined
  #calls = 0
  /** Fulfilled once the call has ended that brings the script to the server. */
  #loading: Promise<unknown> | undefined
  #reconnectedAtMs = Number.NEGATIVE_INFINITY

  /** @param clockMs the time in place of the server's, for tests */
  constructor(runner: ScriptRunner, prefix: string, clockMs?: () => number) {
    this.#runner = runner
    this.#prefix = prefix
    this.#clockMs = clockMs
  }

  async decide(call: LedgerCall): Promise<LedgerReply> {
    const keys = keysOf(call, new LedgerKeys(this.#prefix, call.key))
    const args = [layerListJson(call.limits), this.#argumentOf(call), String(this.#clockMs?.() ?? '')]
    try {
      return JSON.parse(String(await this.#run(keys, args))) as LedgerReply
    } catch (error) {
      if (says(error, 'READONLY')) this.#reconnect()
      throw error
    }
  }

  /** The client belongs to the program that made it. */
  close(): void {}

  #argumentOf({ worker, leaseMs, horizonMs, inFlight, seq, learnedVersion, keep, credits, steps }: LedgerCall): string {
    const number = ++this.#calls
    return JSON.stringify({
      number,
      worker,
      leaseMs,
      horizonMs,
      inFlight,
      seq,
      learnedVersion,
      keep,
      credits,
      steps: steps.map(stepArgument),
    })
  }

  async #run(keys: string[], args: string[]): Promise<unknown> {
    try {
      return await this.#runner.evalSha(scriptSha1, keys, args)
    } catch (error) {
      if (!says(error, 'NOSCRIPT')) throw error
    }
    return this.#runNew(keys, args)
  }

  /** One call brings the script along; those that come meanwhile wait for that, and bring it only where it went elsewhere. */
  async #runNew(keys: string[], args: string[]): Promise<unknown> {
    if (this.#loading !== undefined) {
      await this.#loading
      try {
        return await this.#runner.evalSha(scriptSha1, keys, args)
      } catch (error) {
        if (!says(error, 'NOSCRIPT')) throw error
      }
    }
    const reply = this.#runner.eval(script, keys, args)
    const loading = reply.then(ignore, ignore)
    this.#loading = loading
    try {
      return await reply
    } finally {
      if (this.#loading === loading) this.#loading = undefined
    }
  }

  /** The server has become a replica, and will not take a write on this connection any more. */
  #reconnect(): void {
    const nowMs = performance.now()
    if (nowMs - this.#reconnectedAtMs < reconnectMs) return
    this.#reconnectedAtMs = nowMs
    this.#runner.reconnect()
  }
}

/** The keys of the host, of its state, and of the states that are adopted, in the order of the steps. */
function keysOf({ limits, steps }: LedgerCall, keys: LedgerKeys): string[] {
  return [keys.host, ...keys.of(limits), ...steps.flatMap((step) => (step.kind === 'adopt' ? keys.of(step.from) : []))]
}

/** Infinity is no JSON: an order of those who come last is null. */
function stepArgument(step: Step): object {
  return step.kind === 'adopt' ? { kind: 'adopt', from: layersOf(step.from) } : step
}

function layersOf(limits: Limits): unknown {
  return (layerListOf(limits) as { layers: unknown }).layers
}

function says(error: unknown, code: string): boolean {
  return error instanceof Error && error.message.startsWith(code)
}

function ignore(): void {}
