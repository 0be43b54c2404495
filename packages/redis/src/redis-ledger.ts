import { setImmediate } from 'node:timers'
import type { Ledger, LedgerCall, LedgerReply } from '@hostpace/core/stores'
import { CallBatch } from './call-batch.ts'
import type { ScriptRunner } from './redis-client.ts'
import { ServerScript, says } from './server-script.ts'

/** A connection that cannot write is made anew, but not more often than this. */
const reconnectMs = 1000

/** How many calls go in one run of the script: other clients of the server wait for so long. */
const mostCalls = 16

/** A call whose answer somebody waits for. */
interface Caller {
  readonly call: LedgerCall
  resolve(reply: LedgerReply): void
  reject(error: unknown): void
}

/**
 * Keeps the credit of hosts in a Redis or Valkey, on the clock of the server. What is asked in one turn of the event
 * loop, of whatever hosts, goes in one run of one script; in a cluster, where hosts stand on different nodes, each call by itself.
 *
 * No call is ever made twice; should the client send one again whose answer it has lost, the script refuses it.
 */
export class RedisLedger implements Ledger {
  readonly #runner: ScriptRunner
  readonly #script: ServerScript
  readonly #prefix: string
  readonly #clockMs: (() => number) | undefined
  #callers: Caller[] = []
  #mostCalls = mostCalls
  #callsMade = 0
  #reconnectedAtMs = Number.NEGATIVE_INFINITY

  /** @param clockMs the time in place of the server's, for tests */
  constructor(runner: ScriptRunner, prefix: string, clockMs?: () => number) {
    this.#runner = runner
    this.#script = new ServerScript(runner)
    this.#prefix = prefix
    this.#clockMs = clockMs
  }

  decide(call: LedgerCall): Promise<LedgerReply> {
    return new Promise((resolve, reject) => {
      if (this.#callers.push({ call, resolve, reject }) === 1) setImmediate(() => this.#flush())
    })
  }

  /** Sends what has been asked. The client belongs to the program that made it. */
  close(): void {
    this.#flush()
  }

  #flush(): void {
    const callers = this.#callers
    this.#callers = []
    for (let from = 0; from < callers.length; from += this.#mostCalls) {
      this.#send(callers.slice(from, from + this.#mostCalls))
    }
  }

  async #send(callers: readonly Caller[]): Promise<void> {
    const batch = new CallBatch(this.#prefix, this.#clockMs?.())
    for (const { call } of callers) batch.add(call, ++this.#callsMade)
    try {
      const replies = CallBatch.replies(await this.#script.run(batch.keys, batch.args))
      for (const [index, caller] of callers.entries()) {
        const reply = replies[index] as LedgerReply | Error
        if (reply instanceof Error) this.#fail(caller, reply)
        else caller.resolve(reply)
      }
    } catch (error) {
      if (callers.length > 1 && says(error, 'CROSSSLOT')) {
        this.#mostCalls = 1
        for (const caller of callers) this.#send([caller])
      } else {
        for (const caller of callers) this.#fail(caller, error)
      }
    }
  }

  #fail({ reject }: Caller, error: unknown): void {
    if (says(error, 'READONLY')) this.#reconnect()
    reject(error)
  }

  /** The server has become a replica, and will not take a write on this connection any more. */
  #reconnect(): void {
    const nowMs = performance.now()
    if (nowMs - this.#reconnectedAtMs < reconnectMs) return
    this.#reconnectedAtMs = nowMs
    this.#runner.reconnect()
  }
}
