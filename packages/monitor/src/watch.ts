import type { HostStats, LayerName, Pacer } from '@hostpace/core'
import { HostNotes, type Note } from './host-notes.ts'
import type { Row } from './update.ts'
import { type Outlet, type Scene, Viewer } from './viewer.ts'

/** How many departures are told of in one update. */
const mostDepartures = 1000

/** Watches a pacer for as long as somebody looks on. With no viewer it listens to nothing and has no timer. */
export class Watch {
  readonly #pacer: Pacer
  readonly #intervalMs: number
  readonly #maxHosts: number
  readonly #viewers = new Set<Viewer>()
  #session: Session | undefined
  #isClosed = false

  constructor(pacer: Pacer, intervalMs: number, maxHosts: number) {
    this.#pacer = pacer
    this.#intervalMs = intervalMs
    this.#maxHosts = maxHosts
  }

  /** Whether all were sent away, for good. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** @returns what to call when the viewer has left; safe to call twice */
  join(outlet: Outlet): () => void {
    // A stream that was opened before the end may be read first after it.
    if (this.#isClosed) {
      outlet.end()
      return () => {}
    }
    const viewer = new Viewer(outlet)
    this.#viewers.add(viewer)
    this.#session ??= new Session(this.#pacer, this.#intervalMs, this.#maxHosts, (scene) => this.#show(scene))
    viewer.show(this.#session.scene([], 0))
    return () => {
      this.#viewers.delete(viewer)
      if (this.#viewers.size === 0) this.#rest()
    }
  }

  /** Sends all viewers away, and whoever comes later. */
  close(): void {
    this.#isClosed = true
    for (const viewer of this.#viewers) viewer.end()
    this.#viewers.clear()
    this.#rest()
  }

  #show(scene: Scene): void {
    for (const viewer of this.#viewers) viewer.show(scene)
  }

  #rest(): void {
    this.#session?.end()
    this.#session = undefined
  }
}

interface Departed {
  readonly key: string
  readonly atMs: number
  readonly layer: LayerName
}

/** The time from the first viewer to the last. */
class Session {
  readonly #pacer: Pacer
  readonly #maxHosts: number
  readonly #notes: HostNotes
  readonly #timer: ReturnType<typeof setInterval>
  readonly #endDepartures: () => void
  #departed: Departed[] = []
  #more = 0

  constructor(pacer: Pacer, intervalMs: number, maxHosts: number, show: (scene: Scene) => void) {
    this.#pacer = pacer
    this.#maxHosts = maxHosts
    this.#notes = new HostNotes(pacer)
    this.#endDepartures = pacer.on('depart', ({ key, layer }) => {
      if (this.#departed.length === mostDepartures) this.#more++
      else this.#departed.push({ key, layer, atMs: performance.now() })
    })
    this.#timer = setInterval(() => {
      const [departed, more] = [this.#departed, this.#more]
      this.#departed = []
      this.#more = 0
      show(this.scene(departed, more))
    }, intervalMs)
    // The connections of the viewers keep a process alive, and a monitor alone does not. Browsers have no `unref`.
    ;(this.#timer as { unref?(): void }).unref?.()
  }

  /** @param more how many have departed besides */
  scene(departed: readonly Departed[], more: number): Scene {
    const nowMs = performance.now()
    const { hosts, total } = this.#pacer.stats()
    const entries = Object.entries(hosts)
    const shown = entries.length > this.#maxHosts ? mostInteresting(entries, this.#maxHosts) : entries
    this.#notes.renew(heldFirst(shown))
    const { departures, queued, inFlight, refused, waits } = total
    return {
      total: { departures, queued, inFlight, refused, waits },
      atMs: Math.round(nowMs),
      hosts: entries.length,
      rows: new Map(shown.map(([key, stats]) => [key, rowOf(key, stats, this.#notes.of(key), nowMs)])),
      departures: departed.map(({ key, atMs, layer }) => [key, Math.round(nowMs - atMs), layer]),
      more,
    }
  }

  end(): void {
    clearInterval(this.#timer)
    this.#endDepartures()
    this.#notes.end()
  }
}

function rowOf(key: string, { heldMs, ...figures }: HostStats, { holdReason, learned }: Note, nowMs: number): Row {
  const isHeld = heldMs > 0
  const heldUntilMs = isHeld ? Math.ceil((nowMs + heldMs) / 1000) * 1000 : 0
  return { key, ...figures, heldUntilMs, holdReason: isHeld ? holdReason : undefined, learned }
}

/** The keys of hosts, first of those of which people want to know why. */
function heldFirst(entries: readonly [string, HostStats][]): string[] {
  const isHeld = ([, { heldMs }]: readonly [string, HostStats]) => heldMs > 0
  return [...entries.filter(isHeld), ...entries.filter((entry) => !isHeld(entry))].map(([key]) => key)
}

function mostInteresting(entries: [string, HostStats][], count: number): [string, HostStats][] {
  const byInterest = entries.sort(
    ([, a], [, b]) => Number(b.heldMs > 0) - Number(a.heldMs > 0) || b.queued - a.queued || b.departures - a.departures,
  )
  return byInterest.slice(0, count)
}
