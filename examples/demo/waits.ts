import type { HostStats, LayerName } from '@hostpace/core'

/** How often and how long requests waited, by the layer that asked for it. */
export type Waits = HostStats['waits']

export function addWait(waits: Waits, layer: LayerName, ms: number, count = 1): void {
  const sum = waits[layer] ?? { count: 0, ms: 0 }
  waits[layer] = { count: sum.count + count, ms: sum.ms + ms }
}

/**
 * What the pacer counted while requests stood in its queues, and the time before that for which the
 * frontier had put them off.
 */
export function sumWaits(inQueue: Waits, putOff: Waits): Waits {
  const waits: Waits = {}
  for (const [layer, { count, ms }] of Object.entries(inQueue)) addWait(waits, layer as LayerName, ms, count)
  for (const [layer, { ms }] of Object.entries(putOff)) addWait(waits, layer as LayerName, ms, 0)
  return waits
}
