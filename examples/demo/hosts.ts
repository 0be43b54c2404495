import type { Policy } from '@hostpace/core'

export const hostNames = ['interval', 'quota', 'busy', 'moved'] as const

export type HostName = (typeof hostNames)[number]

export interface Host {
  /** What the host asks for, in words. */
  asks: string
  /** The same as a policy: the pacer is given it, and the access log is held against it. */
  policy: Policy
  /** How a target makes sure of it by itself. */
  rule: TargetRule
  /** How many requests the target refuses even to the most polite of clients. */
  expectedRefusals: number
}

/** How a target treats those who come too fast. */
export type TargetRule =
  | { kind: 'interval'; intervalMs: number }
  | { kind: 'window'; limit: number; windowMs: number }
  | { kind: 'refuse-once'; atRequest: number; retryAfterSeconds: number }
  | { kind: 'redirect'; to: HostName; intervalMs: number }

export const hosts: Record<HostName, Host> = {
  interval: {
    asks: 'one request per 500 ms',
    policy: { intervalMs: 500 },
    rule: { kind: 'interval', intervalMs: 500 },
    expectedRefusals: 0,
  },
  quota: {
    asks: '20 requests per 10 s',
    // A quota says nothing of spacing, so a rate keeps it from going out at once.
    policy: { rate: '5r/s', quotas: [{ limit: 20, windowMs: 10_000 }] },
    rule: { kind: 'window', limit: 20, windowMs: 10_000 },
    expectedRefusals: 0,
  },
  busy: {
    asks: '3 requests per second, once Retry-After: 3',
    policy: { rate: '3r/s' },
    rule: { kind: 'refuse-once', atRequest: 12, retryAfterSeconds: 3 },
    expectedRefusals: 1,
  },
  moved: {
    asks: '1 request per second, redirects to interval',
    policy: { rate: '1r/s' },
    rule: { kind: 'redirect', to: 'interval', intervalMs: 1000 },
    expectedRefusals: 0,
  },
}
