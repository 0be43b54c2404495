import got, { type Got } from 'got'
import type { Limits, Setup } from '../peer.ts'

/** got as its users set it up: its own retry, which keeps to `Retry-After`, and its own cache, where the situation has them. */
export function gotFor({ retries, caches }: Setup): Got {
  return got.extend({ retry: { limit: retries ? 10 : 0 }, ...(caches ? { cache: new Map() } : {}) })
}

/** One limiter for each host that has declared something, found by URL and made when it is first needed. */
export function perHost<Limiter>(
  hosts: Readonly<Record<string, Limits>>,
  make: (limits: Limits, origin: string) => Limiter,
): (url: string) => Limiter {
  const limiters = new Map<string, Limiter>()
  return (url) => {
    const { origin } = new URL(url)
    const limiter = limiters.get(origin) ?? make(hosts[origin] as Limits, origin)
    limiters.set(origin, limiter)
    return limiter
  }
}

/** The limits as a count and the window that it holds for. */
export function asWindow(limits: Limits): { limit: number; windowMs: number } {
  return 'windowMs' in limits ? limits : { limit: 1, windowMs: limits.intervalMs }
}

/** For limiters that count in their own memory and offer nothing else. */
export function cannotShare(): string {
  return 'counts in memory'
}
