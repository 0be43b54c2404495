import type { Pacer } from '@hostpace/core'
import type { BatchObservableCallback, BatchObservableResult, Meter, ObservableGauge } from '@opentelemetry/api'
import type { AttributesOf, HostAttributes } from './host-names.ts'

/** What the gauges show of the hosts that share a name, mostly one. */
interface Figures {
  readonly attributes: HostAttributes
  queued: number
  heldMs: number
}

/**
 * Has the queue and the hold of each host observed. SDKs repeat the last value of what is observed no longer, those whose
 * figures are cumulative for ever; so a name that was shown is from then on at 0 when it has no host. A reader among
 * several that has not looked for a while sees that as well, and there are as many names as `attributesOf` gives.
 *
 * @returns ends it, with a last look at which all are at 0
 */
export function observeHosts(pacer: Pacer, meter: Meter, attributesOf: AttributesOf): () => void {
  const queue = meter.createObservableGauge('hostpace.queue', {
    description: 'Requests that wait now.',
    unit: '{request}',
  })
  const held = meter.createObservableGauge('hostpace.held', {
    description: 'How long the host is held from now on; the longest where several share a name.',
    unit: 's',
  })
  const gauges: ObservableGauge[] = [queue, held]
  const shown = new Map<string, HostAttributes>()
  const tell = (result: BatchObservableResult, all: Iterable<Figures>) => {
    for (const { attributes, queued, heldMs } of all) {
      result.observe(queue, queued, attributes)
      result.observe(held, heldMs / 1000, attributes)
    }
  }
  const observe = (result: BatchObservableResult) => {
    const figures = figuresOf(pacer, attributesOf, shown.values())
    for (const [name, { attributes }] of figures) shown.set(name, attributes)
    tell(result, figures.values())
  }
  meter.addBatchObservableCallback(observe, gauges)
  return () => {
    meter.removeBatchObservableCallback(observe, gauges)
    if (shown.size > 0) observeOnce(meter, gauges, (result) => tell(result, [...shown.values()].map(atRest)))
  }
}

/** The hosts as they stand by name, those that share one as one, and the names of `shown` without a host at 0. */
function figuresOf(pacer: Pacer, attributesOf: AttributesOf, shown: Iterable<HostAttributes>): Map<string, Figures> {
  const byName = new Map<string, Figures>()
  for (const attributes of shown) byName.set(attributes['hostpace.host'], atRest(attributes))
  for (const [key, { queued, heldMs }] of Object.entries(pacer.stats().hosts)) {
    const attributes = attributesOf(key)
    const name = attributes['hostpace.host']
    const sum = byName.get(name) ?? atRest(attributes)
    sum.queued += queued
    sum.heldMs = Math.max(sum.heldMs, heldMs)
    byName.set(name, sum)
  }
  return byName
}

function atRest(attributes: HostAttributes): Figures {
  return { attributes, queued: 0, heldMs: 0 }
}

function observeOnce(meter: Meter, gauges: ObservableGauge[], callback: BatchObservableCallback): void {
  const observe = (result: BatchObservableResult) => {
    callback(result)
    // Removed at once, it would make an SDK that is going through its callbacks leave out the one behind it.
    queueMicrotask(() => meter.removeBatchObservableCallback(observe, gauges))
  }
  meter.addBatchObservableCallback(observe, gauges)
}
