import type { Peer } from '../peer.ts'
import { axiosRateLimit } from './axios-rate-limit.ts'
import { bottleneck } from './bottleneck.ts'
import { hostpace } from './hostpace.ts'
import { limiter } from './limiter.ts'
import { pQueue } from './p-queue.ts'
import { pThrottlePeer } from './p-throttle.ts'

/** The columns of the scoreboard. */
export const peers: readonly Peer[] = [hostpace, bottleneck, pThrottlePeer, pQueue, limiter, axiosRateLimit]
