import axios, { type AxiosInstance, type AxiosResponse } from 'axios'
import { setupCache } from 'axios-cache-interceptor'
import rateLimit from 'axios-rate-limit'
import axiosRetry from 'axios-retry'
import type { Limits, Peer, Setup } from '../peer.ts'
import { asWindow, cannotShare, perHost } from './client.ts'

/** With axios-retry, and with a cache whose hits it is told not to count, as its pages on these cases say. */
export const axiosRateLimit: Peer = {
  name: 'axios-rate-limit',
  cannot: cannotShare,
  open(setup) {
    const clientFor = perHost(setup.hosts, (limits) => limited(limits, setup))
    return { get: (url, options) => clientFor(url).get(url, options) }
  },
}

function limited(limits: Limits, { retries, caches }: Setup): AxiosInstance {
  const { limit, windowMs } = asWindow(limits)
  const client = caches ? setupCache(axios.create()) : axios.create()
  const made = rateLimit(client as AxiosInstance, {
    limits: [{ maxRequests: limit, duration: windowMs }],
    shouldCountRequest: (_: unknown, response: AxiosResponse & { cached?: boolean }) => response.cached !== true,
  })
  if (retries) {
    axiosRetry(made, {
      retries: 10,
      retryDelay: axiosRetry.exponentialDelay,
      retryCondition: ({ response }) => response?.status === 429,
    })
  }
  return made
}
