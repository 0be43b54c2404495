import type { Ledger, LedgerCall, LedgerReply } from '@hostpace/core/stores'
import { SharedStore } from '@hostpace/core/stores'
import { ManualClock, type StoreDriver } from '@hostpace/core/testing'
import type { Redis } from 'ioredis'
import { scriptRunnerOf } from '../src/redis-client.ts'
import { RedisLedger } from '../src/redis-ledger.ts'

/** What all keys of this run begin with. */
export const suitePrefix = `suite-${Math.random()}:`

let opened = 0

/** Two stores over one connection, with a clock for them and the server that moves only when told to. */
export function manualDriver(client: () => Redis): StoreDriver {
  return {
    open() {
      const clock = new SteppedClock()
      const prefix = `${suitePrefix}${++opened}:`
      const ledgers = [0, 1].map(
        () => new WatchedLedger(new RedisLedger(scriptRunnerOf(client()), prefix, () => clock.now())),
      ) as [WatchedLedger, WatchedLedger]
      const settle = async () => {
        while (ledgers.some(({ isBusy }) => isBusy)) await Promise.all(ledgers.map((ledger) => ledger.idle()))
      }
      const stores = [new SharedStore(ledgers[0], { clock }), new SharedStore(ledgers[1], { clock })] as const
      return {
        stores,
        nowMs: () => clock.now(),
        async advance(ms) {
          const endMs = clock.now() + ms
          await settle()
          for (const stepMs of clock.stepsTo(endMs)) {
            await clock.advanceAsync(stepMs)
            await settle()
          }
        },
        async close() {
          await Promise.all(stores.map((store) => store.close()))
        },
      }
    },
  }
}

/** A manual clock that stops at every timer, for answers that come from outside of this process. */
class SteppedClock extends ManualClock {
  readonly #dueMs: number[] = []

  override setTimer(callback: () => void, delayMs: number): unknown {
    this.#dueMs.push(this.now() + Math.max(0, delayMs))
    return super.setTimer(callback, delayMs)
  }

  /** How far to go to each timer that is due by then, and to the end. */
  *stepsTo(endMs: number): Generator<number> {
    for (;;) {
      this.#dueMs.sort((a, b) => a - b)
      const nextMs = this.#dueMs[0] ?? Number.POSITIVE_INFINITY
      if (nextMs > endMs) break
      this.#dueMs.shift()
      yield Math.max(0, nextMs - this.now())
    }
    yield endMs - this.now()
  }
}

/** Tells when no call is under way, so that time goes on only then. */
class WatchedLedger implements Ledger {
  readonly #ledger: Ledger
  #calls = 0
  #last: Promise<unknown> = Promise.resolve()

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  get isBusy(): boolean {
    return this.#calls > 0
  }

  async idle(): Promise<void> {
    await this.#last
    // What hears of the answer may ask on.
    await new Promise((resolve) => setImmediate(resolve))
  }

  decide(call: LedgerCall): Promise<LedgerReply> {
    this.#calls++
    const reply = Promise.resolve(this.#ledger.decide(call))
    this.#last = reply.catch(() => {}).then(() => this.#calls--)
    return reply
  }

  close(): void {
    this.#ledger.close()
  }
}
