import type { Desk } from '../desk.ts'
import { type Hold, holdAfter, type LimitAnswer } from './hold.ts'

/** Holds hosts, because they or the program ask for it, and lets them go. */
export class Holds {
  readonly #desk: Desk

  constructor(desk: Desk) {
    this.#desk = desk
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

  /** Holds a host that says it had too much. */
  complained(host: number, answer: LimitAnswer): void {
    const before = this.#desk.records.holds.get(host)
    const hold = holdAfter(before, answer, this.#desk.now())
    if (hold !== before) this.#apply(host, hold)
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
