import type { Policy } from '@hostpace/core'

/** One of the hosts that are asked, each with a policy of another kind. */
export interface Origin {
  readonly name: string
  readonly policy: Policy
  /** Its part of all requests: about its rate's part of all rates, so that all hosts are busy to the end. */
  readonly share: number
  /** How many requests at most are under way to it at any time, those who wait included. */
  readonly lanes: number
}

/**
 * What is asked, and how fast at the most. All together that is about 770 requests per second; answers that are slow
 * and holds take some of it.
 */
export const origins: readonly Origin[] = [
  { name: 'interval', share: 25, lanes: 20, policy: { intervalMs: 40 } },
  { name: 'interval+bound', share: 48, lanes: 30, policy: { intervalMs: 20, concurrency: 2 } },
  { name: 'bucket', share: 270, lanes: 120, policy: { rate: '250r/s', capacity: 50 } },
  { name: 'quota', share: 220, lanes: 120, policy: { rate: '400r/s', quotas: [{ limit: 100, windowMs: 500 }] } },
  { name: 'rate+bound', share: 160, lanes: 80, policy: { rate: '150r/s', capacity: 20, concurrency: 5 } },
  {
    name: 'short line',
    share: 75,
    lanes: 50,
    policy: { rate: '80r/s', capacity: 10, concurrency: 3, maxQueue: 40, maxWaitMs: 2000 },
  },
]

/**
 * Whether a client may go there that cannot tell when it writes. For `@hostpace/fetch` and axios's fetch adapter an
 * interval is measured from the call of `fetch`, and a connection that takes its time shortens what the host sees; so
 * they go only where rates and windows are declared.
 */
export function takesBlindClients({ policy }: Origin): boolean {
  return policy.intervalMs === undefined
}
