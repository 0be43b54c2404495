import { createPacer, type Policy } from '@hostpace/core'
import { pace } from '@hostpace/got'
import { sqliteStore } from '@hostpace/sqlite'
import type { Limits, Peer } from '../peer.ts'
import { gotFor } from './client.ts'

export const hostpace: Peer = {
  name: 'hostpace',
  cannot: () => undefined,
  open(setup) {
    const hosts = Object.fromEntries(Object.entries(setup.hosts).map(([origin, limits]) => [origin, policyOf(limits)]))
    const store = setup.shared && sqliteStore({ path: setup.shared.path })
    return gotFor(setup).extend(pace(createPacer(store ? { hosts, store } : { hosts })))
  },
}

/** A long quota says nothing of spacing, so it comes with a rate. */
function policyOf(limits: Limits): Policy {
  if ('intervalMs' in limits) return limits
  return { quotas: [limits], ...(limits.windowMs >= 60_000 ? { rate: '20r/s' } : {}) }
}
