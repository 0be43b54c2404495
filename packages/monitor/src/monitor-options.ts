import { PolicyError, show } from '@hostpace/core'

/** What `createMonitor` takes. */
export interface MonitorOptions {
  /** Milliseconds from one update of the page to the next. From 100 to 60 000. @default 1000 */
  intervalMs?: number | undefined
  /**
   * How many hosts the page is told of at most: those that are held, then those with the longest queues, then those with
   * the most departures. A whole number from 1 to 100 000. @default 5000
   */
  maxHosts?: number | undefined
}

const known = ['intervalMs', 'maxHosts']

/** @throws {PolicyError} if an option makes no sense; its `path` names it */
export function readOptions(options: MonitorOptions): Required<{ intervalMs: number; maxHosts: number }> {
  if (typeof options !== 'object' || options === null) {
    throw new PolicyError('options', `must be an object, got ${show(options)}`)
  }
  for (const name of Object.keys(options)) {
    if (!known.includes(name))
      throw new PolicyError(`options.${name}`, `is unknown; known here are ${known.join(', ')}`)
  }
  const { intervalMs = 1000, maxHosts = 5000 } = options
  if (typeof intervalMs !== 'number' || !(intervalMs >= 100 && intervalMs <= 60_000)) {
    throw new PolicyError('options.intervalMs', `must be a number from 100 to 60000, got ${show(intervalMs)}`)
  }
  if (!Number.isSafeInteger(maxHosts) || maxHosts < 1 || maxHosts > 100_000) {
    throw new PolicyError('options.maxHosts', `must be a whole number from 1 to 100000, got ${show(maxHosts)}`)
  }
  return { intervalMs, maxHosts }
}
