import pThrottle from 'p-throttle'
import type { Client, Peer } from '../peer.ts'
import { asWindow, cannotShare, gotFor, perHost } from './client.ts'

/** In its strict mode, which is for limits that hold for any window. A signal is for all that wait, so got takes the one of a request. */
export const pThrottlePeer: Peer = {
  name: 'p-throttle',
  cannot: cannotShare,
  open(setup) {
    const client = gotFor(setup)
    const get: Client['get'] = (url, options) => client(url, options)
    const throttledFor = perHost(setup.hosts, (limits) => {
      const { limit, windowMs } = asWindow(limits)
      return pThrottle({ limit, interval: windowMs, strict: true })(get)
    })
    return { get: (url, options) => throttledFor(url)(url, options) }
  },
}
