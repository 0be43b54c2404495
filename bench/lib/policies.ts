import type { Policy } from '@hostpace/core'

/** Three layers as a host might declare them: a gap, a burst and a quota. */
export const declared: Policy = {
  intervalMs: 2000,
  rate: '10r/s',
  capacity: 10,
  quotas: [{ limit: 1000, windowMs: 3_600_000 }],
}

/** Three layers that do all of their arithmetic and never let anybody wait. */
export const neverWaits: Policy = {
  intervalMs: 1e-6,
  rate: 1e9,
  quotas: [{ limit: 10_000, windowMs: 0.1 }],
}
