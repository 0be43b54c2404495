import type { Desk } from '../desk.ts'
import type { Outcome } from '../permit.ts'
import { type Hold, holdAfter, isLimitAnswer } from './hold.ts'
import { parseRetryAfter } from './retry-after.ts'

/** Holds hosts, because they or the program ask for it, and lets them go. */
export class Holds {
  readonly #desk: Desk
  readonly #wallNow: () => number
  readonly #learns: boolean

  /** @param learns whether answers hold a host; if not they are only told of */
  constructor(desk: Desk, wallNow: () => number, learns: boolean) {
    this.#desk = desk
    this.#wallNow = wallNow
    this.#learns = learns
  }

  /** Why a host is held. */
  reasonOf(host: number): string | undefined {
    return this.#desk.records.holds.get(host)?.reason
  }

  /** Holds a host for `ms` from now on; the longest of several wins. */
  hold(host: number, ms: number, reason: string): void {
    const before = this.#desk.records.holds.get(host)
    const untilMs = this.#desk.now() + ms
    if (before === undefined || before.untilMs < untilMs) {
      this.#apply(host, { untilMs, unhinted: before?.unhinted ?? 0, reason })
    }
  }

  /** Lets a host go, whoever wanted it held. */
  release(host: number): void {
    const desk = this.#desk
    const hold = desk.records.holds.get(host)
    const nowMs = desk.now()
    if (hold !== undefined) desk.records.holds.set(host, { ...hold, untilMs: Math.min(hold.untilMs, nowMs) })
    desk.withLimits(host, (limits) => {
      desk.store.resume(host, limits, nowMs)
      this.#tell(host, 0, 'resumed')
      desk.store.hosts.changed(host)
    })
  }

  /** Looks at an answer, and holds the host if it says that it had too much. */
  observe(host: number, outcome: Outcome, departedAtMs: number): void {
    const { records, events, store } = this.#desk
    const { status } = outcome
    const retryAfterMs = status === undefined ? undefined : parseRetryAfter(outcome.headers, this.#wallNow())
    if (events.has('observe')) {
      const limited = status !== undefined && isLimitAnswer(status, retryAfterMs)
      events.emit('observe', { ...outcome, key: store.hosts.keyOf(host), limited })
    }
    if (!this.#learns || status === undefined) return
    const before = records.holds.get(host)
    const hold = holdAfter(before, { status, retryAfterMs, departedAtMs }, this.#desk.now())
    if (hold !== undefined && hold !== before) this.#apply(host, hold)
  }

  #apply(host: number, hold: Hold): void {
    const desk = this.#desk
    desk.records.holds.set(host, hold)
    desk.withLimits(host, (limits) => {
      const nowMs = desk.now()
      const forMs = Math.max(0, hold.untilMs - nowMs)
      desk.store.pause(host, limits, forMs, nowMs)
      this.#tell(host, forMs, hold.reason)
      desk.store.hosts.changed(host)
    })
  }

  #tell(host: number, waitMs: number, reason: string): void {
    const { events, store } = this.#desk
    if (events.has('pause')) events.emit('pause', { key: store.hosts.keyOf(host), waitMs, reason, layer: 'pause' })
  }
}
