import PQueue from 'p-queue'
import type { Peer } from '../peer.ts'
import { asWindow, cannotShare, gotFor, perHost } from './client.ts'

/** In its strict mode, which is for limits that hold for any window; signals are given to both the queue and got. */
export const pQueue: Peer = {
  name: 'p-queue',
  cannot: cannotShare,
  open(setup) {
    const client = gotFor(setup)
    const queueOf = perHost(setup.hosts, (limits) => {
      const { limit, windowMs } = asWindow(limits)
      return new PQueue({ intervalCap: limit, interval: windowMs, strict: true })
    })
    return { get: (url, options) => queueOf(url).add(() => client(url, options), options) }
  },
}
