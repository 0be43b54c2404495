import type { Clock } from '../clock.ts'
import type { Limits } from '../limits.ts'
import { HostState } from './host-state.ts'
import type { Ledger, LedgerCall, LedgerReply } from './ledger.ts'
import { type HostNotice, noNotice } from './saved-host.ts'

interface Host {
  readonly notice: HostNotice
  readonly states: Map<string, HostState>
}

/**
 * A ledger in this process: what a shared store falls back on, and the plainest example of a ledger.
 */
export class MemoryLedger implements Ledger {
  readonly #hosts = new Map<string, Host>()
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  decide(call: LedgerCall): LedgerReply {
    const { key, limits } = call
    const host = this.#hosts.get(key) ?? { notice: noNotice(), states: new Map() }
    const state = host.states.get(limits.creditName) ?? new HostState(limits)
    const reply = state.decide(call, host.notice, this.#clock.now(), (former: Limits) =>
      host.states.get(former.creditName),
    )
    if (reply.lost !== true) {
      host.states.set(limits.creditName, state)
      this.#hosts.set(key, host)
    }
    return reply
  }

  /** Forgets everything. */
  clear(): void {
    for (const { states } of this.#hosts.values()) for (const state of states.values()) state.release()
    this.#hosts.clear()
  }

  close(): void {
    this.clear()
  }
}
