import type { LayerName } from './layers/layer.ts'

/** How often and how long requests waited for one layer. */
export interface WaitStats {
  count: number
  /** Milliseconds, all together. */
  ms: number
}

/** What has happened to the requests for one host, or for all. */
export interface HostStats {
  /** Requests that were let go. */
  departures: number
  /** Those that waited, by the layer that asked for it. */
  waits: Partial<Record<LayerName, WaitStats>>
  /** Requests that wait now. */
  queued: number
  /** Requests that were let go and are not over. */
  inFlight: number
  /** Requests that were refused: queue full, wait too long, limited. */
  refused: number
  /** Milliseconds left of a pause; 0 if there is none. */
  heldMs: number
}

/** What a pacer has seen. */
export interface PacerStats {
  /** By key, the hosts that are remembered at present. */
  readonly hosts: Readonly<Record<string, HostStats>>
  /** Everything since the pacer was made, forgotten hosts included. */
  readonly total: HostStats
}

export function emptyStats(): HostStats {
  return { departures: 0, waits: {}, queued: 0, inFlight: 0, refused: 0, heldMs: 0 }
}

/** Adds what happened to one host to a sum. */
export function addStats(sum: HostStats, host: HostStats): void {
  sum.departures += host.departures
  sum.queued += host.queued
  sum.inFlight += host.inFlight
  sum.refused += host.refused
  sum.heldMs = Math.max(sum.heldMs, host.heldMs)
  for (const [layer, waits] of Object.entries(host.waits)) addWait(sum, layer as LayerName, waits.ms, waits.count)
}

export function addWait(stats: HostStats, layer: LayerName, ms: number, count = 1): void {
  const waits = stats.waits[layer]
  if (waits === undefined) stats.waits[layer] = { count, ms }
  else {
    waits.count += count
    waits.ms += ms
  }
}
