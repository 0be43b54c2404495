import { RateLimiter } from 'limiter'
import type { Peer } from '../peer.ts'
import { asWindow, cannotShare, gotFor, perHost } from './client.ts'

/** Its `RateLimiter`; it knows no signals, so got takes them. */
export const limiter: Peer = {
  name: 'limiter',
  cannot: cannotShare,
  open(setup) {
    const client = gotFor(setup)
    const limiterOf = perHost(setup.hosts, (limits) => {
      const { limit, windowMs } = asWindow(limits)
      return new RateLimiter({ tokensPerInterval: limit, interval: windowMs })
    })
    return {
      async get(url, options) {
        await limiterOf(url).removeTokens(1)
        return client(url, options)
      },
    }
  },
}
