import type { Ledger, LedgerCall, LedgerReply } from '@hostpace/core/stores'

/** A ledger that answers as one across a network does: later, and one call after another. */
export class LateLedger implements Ledger {
  readonly #inner: Ledger
  #line: Promise<unknown> = Promise.resolve()

  constructor(inner: Ledger) {
    this.#inner = inner
  }

  decide(call: LedgerCall): Promise<LedgerReply> {
    const answer = this.#line.then(() => this.#inner.decide(call))
    this.#line = answer.catch(() => {})
    return answer
  }

  close(): void | Promise<void> {
    return this.#inner.close()
  }
}
