export { type AbortListener, unwatchAbort, watchAbort } from './abort-watch.ts'
export { show } from './checks.ts'
export type { Clock } from './clock.ts'
export {
  HostpaceError,
  type HostpaceErrorCode,
  PacerClosedError,
  PolicyError,
  QueueFullError,
  RateLimitedError,
  StoreError,
  WaitTooLongError,
} from './errors.ts'
export type { PacerEventName, PacerEvents, PacerListener } from './events.ts'
export type { Explanation, LayerExplanation, LearnedExplanation } from './explanation.ts'
export { type FetchRedirect, fetchFailure, locationOf, redirectTo } from './fetch-redirect.ts'
export { handOver, takeHandover, takesHandovers } from './handover.ts'
export { HostLimiter, type HostLimiterOptions } from './host-limiter.ts'
export type { HostStats, PacerStats, WaitStats } from './host-stats.ts'
export { FixedWindow } from './layers/fixed-window.ts'
export { Layer, type LayerName, type LayerOptions } from './layers/layer.ts'
export { LeakyBucket, type LeakyBucketOptions } from './layers/leaky-bucket.ts'
export { SlidingWindowCounter } from './layers/sliding-window-counter.ts'
export { SlidingWindowLog, type WindowOptions } from './layers/sliding-window-log.ts'
export { TokenBucket, type TokenBucketOptions } from './layers/token-bucket.ts'
export type { HeaderHints, HeaderNames } from './learning/header-hints.ts'
export {
  parseRateLimit,
  type RateLimit,
  type RateLimitContext,
  type RateLimitPolicy,
} from './learning/rate-limit.ts'
export { inOrder, waitForAll } from './many-pacers.ts'
export { type KeyBy, originOf } from './origin.ts'
export { createPacer, type Pacer, type Peek, toPacer } from './pacer.ts'
export type { AdaptOptions, PacerOptions, WaitOptions } from './pacer-options.ts'
export type { HeaderCarrier, Outcome, Permit } from './permit.ts'
export type { Policy, Quota } from './policy.ts'
export type { PolicySource } from './policy-book.ts'
export type { PolicyFor, PolicyLookup } from './policy-lookup.ts'
export { parseRate, type Rate } from './rate.ts'
export { limiterFor, policyFor, type RegistryEntry } from './registry.ts'
export { type RequestOptions, readRequestOptions } from './request-options.ts'
export type { Reservation } from './reservation.ts'
export { memoryStore } from './stores/memory-store.ts'
export type { Store } from './stores/store.ts'
