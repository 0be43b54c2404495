import type { Reservation, WaitOptions } from '@hostpace/core'
import type { DispatchOptions } from './dispatch.ts'

const used = new WeakSet<Reservation>()

/**
 * What one hop says of itself to the pacer. A reservation is good for one hop: undici hands the options of
 * a request on to its redirects and retries, which have no claim to it.
 */
export function waitOptionsOf(request: DispatchOptions, signal: AbortSignal): WaitOptions {
  const base = { signal, reportsSent: true, request }
  if (request.hostpace === undefined) return base
  const { cost, priority, maxWaitMs, key, reservation } = request.hostpace
  const options: WaitOptions = { ...base, cost, priority, maxWaitMs, key }
  if (reservation === undefined || used.has(reservation)) return options
  used.add(reservation)
  return { ...options, reservation }
}
