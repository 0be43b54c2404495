import type { RequestOptions, Reservation, WaitOptions } from '@hostpace/core'

const used = new WeakSet<Reservation>()

/**
 * What one hop says of itself to the pacer. A reservation is good for one hop: undici hands the options of
 * a request on to its redirects and retries, which have no claim to it.
 */
export function waitOptionsOf(options: RequestOptions | undefined): WaitOptions {
  if (options === undefined) return {}
  const { cost, priority, maxWaitMs, key, reservation } = options
  const wait: WaitOptions = { cost, priority, maxWaitMs, key }
  if (reservation === undefined || used.has(reservation)) return wait
  used.add(reservation)
  return { ...wait, reservation }
}
