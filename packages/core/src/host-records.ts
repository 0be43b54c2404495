import type { HostQueue } from './host-queue.ts'
import { addStats, addWait, emptyStats, type HostStats, type PacerStats } from './host-stats.ts'
import type { HostKeeper, HostTable } from './host-table.ts'
import type { LayerName } from './layers/layer.ts'
import { type Hold, isForgotten } from './learning/hold.ts'
import { forgottenAtMs, type Learned } from './learning/learned.ts'
import type { Limits } from './limits.ts'

/** Who hears of what happens to hosts. */
export interface HostListener {
  forgotten(key: string): void
  /** Another process has learned something of a host. */
  taught(host: number, learned: Learned): void
  /** The shared state of a host cannot be reached for now. */
  failed(host: number, error: unknown): void
}

/** What one pacer keeps about hosts, by their numbers. An idle host takes a few numbers and no object. */
export class HostRecords implements HostKeeper {
  readonly limits: (Limits | undefined)[] = []
  readonly queues: (HostQueue | undefined)[] = []
  readonly inFlight: number[] = []
  /** Policies that are being looked up. */
  readonly lookups: Map<number, Promise<Limits>> = new Map()
  /** What look-ups went by that asked a host before its limits were known. */
  readonly provisional: Map<number, Limits> = new Map()
  /** When policies are to be looked up again. */
  readonly staleAtMs: Map<number, number> = new Map()
  readonly holds: Map<number, Hold> = new Map()
  readonly learned: Map<number, Learned> = new Map()
  readonly #departures: number[] = []
  /** Waits and refusals, of those hosts that had any. */
  readonly #tallies = new Map<number, HostStats>()
  readonly #forgotten: HostStats = emptyStats()
  readonly #hosts: HostTable
  readonly #listener: HostListener

  constructor(hosts: HostTable, listener: HostListener) {
    this.#hosts = hosts
    this.#listener = listener
    hosts.join(this)
  }

  /** Makes room for a host that this pacer has not met. */
  welcome(host: number): void {
    while (this.limits.length <= host) {
      this.limits.push(undefined)
      this.queues.push(undefined)
      this.inFlight.push(0)
      this.#departures.push(0)
    }
  }

  departed(host: number, waitedMs: number, layer: LayerName): void {
    this.#departures[host] = (this.#departures[host] as number) + 1
    this.inFlight[host] = (this.inFlight[host] as number) + 1
    if (layer !== 'none') addWait(this.#tally(host), layer, waitedMs)
  }

  /** How many requests have departed so far. */
  departures(host: number): number {
    return this.#departures[host] as number
  }

  refused(host: number): void {
    this.#tally(host).refused++
  }

  freed(host: number): void {
    this.queues[host]?.freed()
  }

  changed(host: number): void {
    this.queues[host]?.recheck()
  }

  taught(host: number, learned: Learned): void {
    if (this.#knows(host)) this.#listener.taught(host, learned)
  }

  failed(host: number, error: unknown): void {
    if (this.#knows(host)) this.#listener.failed(host, error)
  }

  mayForget(host: number, nowMs: number): boolean {
    if (host >= this.limits.length) return true
    if (this.queues[host] !== undefined || this.inFlight[host] !== 0 || this.lookups.has(host)) return false
    const hold = this.holds.get(host)
    const learned = this.learned.get(host)
    return (
      (hold === undefined || isForgotten(hold, nowMs)) && (learned === undefined || forgottenAtMs(learned) <= nowMs)
    )
  }

  forget(host: number): void {
    if (host >= this.limits.length) return
    addStats(this.#forgotten, this.#statsOf(host, Number.POSITIVE_INFINITY))
    this.#listener.forgotten(this.#hosts.keyOf(host))
    this.limits[host] = undefined
    this.provisional.delete(host)
    this.staleAtMs.delete(host)
    this.#departures[host] = 0
    this.#tallies.delete(host)
    this.holds.delete(host)
    this.learned.delete(host)
  }

  stats(nowMs: number): PacerStats {
    const hosts: Record<string, HostStats> = Object.create(null)
    const total = emptyStats()
    addStats(total, this.#forgotten)
    for (const [key, host] of this.#hosts.entries()) {
      if (!this.#knows(host)) continue
      const stats = this.#statsOf(host, nowMs)
      hosts[key] = stats
      addStats(total, stats)
    }
    return { hosts, total }
  }

  #statsOf(host: number, nowMs: number): HostStats {
    const { waits, refused } = this.#tallies.get(host) ?? emptyStats()
    return {
      departures: this.#departures[host] as number,
      waits: structuredClone(waits),
      queued: this.queues[host]?.size ?? 0,
      inFlight: this.inFlight[host] as number,
      refused,
      heldMs: Math.max(0, (this.holds.get(host)?.untilMs ?? Number.NEGATIVE_INFINITY) - nowMs),
    }
  }

  /** Whether this pacer, and not only another one on the same store, has to do with a host. */
  #knows(host: number): boolean {
    if (host >= this.limits.length) return false
    return this.limits[host] !== undefined || this.lookups.has(host) || this.provisional.has(host)
  }

  #tally(host: number): HostStats {
    const known = this.#tallies.get(host)
    if (known !== undefined) return known
    const tally = emptyStats()
    this.#tallies.set(host, tally)
    return tally
  }
}
