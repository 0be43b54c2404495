import { PolicyError, show } from '@hostpace/core'
import { type Attributes, type Meter, metrics } from '@opentelemetry/api'

/** What `instrument` takes. */
export interface InstrumentOptions {
  /** What makes the instruments. @default the one named `@hostpace/otel` of the global meter provider */
  meter?: Meter | undefined
  /**
   * How many hosts have figures of their own; all others share those of the host `_OTHER`. The first that are met count,
   * for as long as this lasts. A whole number of 0 or more. @default 100
   */
  maxHosts?: number | undefined
  /** Attributes that all figures carry, say to tell one pacer from another. @default none */
  attributes?: Attributes | undefined
}

/** The options, checked and complete. */
export interface Settings {
  readonly meter: Meter
  readonly maxHosts: number
  readonly attributes: Attributes
}

const known = ['meter', 'maxHosts', 'attributes']

/** @throws {PolicyError} if an option makes no sense; its `path` names it */
export function readOptions(options: InstrumentOptions): Settings {
  if (!isObject(options)) throw new PolicyError('options', `must be an object, got ${show(options)}`)
  for (const name of Object.keys(options)) {
    if (!known.includes(name))
      throw new PolicyError(`options.${name}`, `is unknown; known here are ${known.join(', ')}`)
  }
  const { meter = metrics.getMeter('@hostpace/otel'), maxHosts = 100, attributes = {} } = options
  if (typeof meter?.createHistogram !== 'function') {
    throw new PolicyError('options.meter', `must be a Meter, got ${show(meter)}`)
  }
  if (!Number.isSafeInteger(maxHosts) || maxHosts < 0) {
    throw new PolicyError('options.maxHosts', `must be a whole number of 0 or more, got ${show(maxHosts)}`)
  }
  if (!isObject(attributes)) {
    throw new PolicyError('options.attributes', `must be an object, got ${show(attributes)}`)
  }
  return { meter, maxHosts, attributes: { ...attributes } }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
