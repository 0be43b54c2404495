import { LeakyBucket, TokenBucket } from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'

/** When each of forty links to one host leaves, in milliseconds, under one rule. */
export interface Departures {
  title: string
  leaveAtMs: number[]
}

/**
 * Forty links to a host that declares `Crawl-delay: 2`, all found in the same moment, under the two
 * rules that have the same average: a leaky bucket, and a token bucket that holds forty. On a clock
 * that stands still, so it takes no time.
 */
export function fortyLinks(): { leaky: Departures; tokens: Departures } {
  const clock = new ManualClock()
  const leaky = new LeakyBucket({ intervalMs: 2000, clock })
  const tokens = new TokenBucket({ rate: 0.5, capacity: 40, clock })
  const forty = Array.from({ length: 40 })
  return {
    leaky: { title: 'Leaky bucket, one per 2 s', leaveAtMs: forty.map(() => leaky.acquire()) },
    tokens: { title: 'Token bucket of forty, 0.5 per second', leaveAtMs: forty.map(() => tokens.acquire()) },
  }
}

/** How many have left by then, that moment included. */
export function leftBy({ leaveAtMs }: Departures, atMs: number): number {
  return leaveAtMs.filter((leaveMs) => leaveMs <= atMs).length
}
