import type { Pacer } from '@hostpace/core'
import { type Meter, trace } from '@opentelemetry/api'
import { errorTypeOf } from './error-type.ts'
import { observeHosts } from './host-gauges.ts'
import { type AttributesOf, HostNames } from './host-names.ts'
import { type InstrumentOptions, readOptions } from './instrument-options.ts'

/** From what a person hardly notices to a hold of a day, in seconds. */
const waitBoundaries = [0, 0.01, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 21_600, 86_400]

/**
 * Tells OpenTelemetry what a pacer does, until the function that it returns is called.
 *
 * | metric | kind, unit | attributes |
 * | --- | --- | --- |
 * | `hostpace.wait` | histogram, seconds: how long each request waited that departed | `hostpace.host`, `hostpace.layer` |
 * | `hostpace.departures` | counter, requests | `hostpace.host` |
 * | `hostpace.refusals` | counter, requests that were refused or taken back | `hostpace.host`, `error.type` |
 * | `hostpace.queue` | observable gauge, requests that wait now | `hostpace.host` |
 * | `hostpace.held` | observable gauge, seconds left of a hold, 0 if there is none | `hostpace.host` |
 *
 * The span that was active when a request asked for its departure gets `hostpace.wait_ms`, `hostpace.layer` and
 * `hostpace.host` when it departs.
 *
 * Call it once for each pacer, when the SDK has been set up.
 *
 * @returns ends it; the gauges are observed once more, as 0. Safe to call twice
 * @throws {PolicyError} if an option makes no sense; its `path` names it
 * @throws {TypeError} if `pacer` is no pacer
 */
export function instrument(pacer: Pacer, options: InstrumentOptions = {}): () => void {
  if (typeof pacer?.on !== 'function') throw new TypeError('pacer must be what createPacer gave')
  const { meter, maxHosts, attributes } = readOptions(options)
  const names = new HostNames(maxHosts)
  const attributesOf = (key: string) => ({ ...attributes, 'hostpace.host': names.nameOf(key) })
  const endings = [
    tellDepartures(pacer, meter, attributesOf),
    tellRefusals(pacer, meter, attributesOf),
    observeHosts(pacer, meter, attributesOf),
    markSpans(pacer),
  ]
  return () => {
    for (const end of endings.splice(0)) end()
  }
}

function tellDepartures(pacer: Pacer, meter: Meter, attributesOf: AttributesOf): () => void {
  const waits = meter.createHistogram('hostpace.wait', {
    description: 'How long requests waited until they might leave.',
    unit: 's',
    advice: { explicitBucketBoundaries: waitBoundaries },
  })
  const departures = meter.createCounter('hostpace.departures', {
    description: 'Requests that were let go.',
    unit: '{request}',
  })
  return pacer.on('depart', ({ key, waitedMs, layer }) => {
    const attributes = attributesOf(key)
    departures.add(1, attributes)
    waits.record(waitedMs / 1000, { ...attributes, 'hostpace.layer': layer })
  })
}

function tellRefusals(pacer: Pacer, meter: Meter, attributesOf: AttributesOf): () => void {
  const refusals = meter.createCounter('hostpace.refusals', {
    description: 'Requests that were refused or taken back.',
    unit: '{request}',
  })
  return pacer.on('reject', ({ key, error }) => {
    refusals.add(1, { ...attributesOf(key), 'error.type': errorTypeOf(error) })
  })
}

/** A departure is told in the context of the request, so the active span is the one that it was made in. */
function markSpans(pacer: Pacer): () => void {
  return pacer.on('depart', ({ key, waitedMs, layer }) => {
    const span = trace.getActiveSpan()
    if (span?.isRecording() !== true) return
    span.setAttributes({ 'hostpace.wait_ms': waitedMs, 'hostpace.layer': layer, 'hostpace.host': key })
  })
}
