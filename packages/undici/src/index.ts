export { type PaceSettings, pace } from './pace.ts'
import type { RequestOptions } from '@hostpace/core'

/** What one request may say of itself, next to `path` and `method`. */
export interface PacedRequestOptions {
  /** How this request is paced; see `RequestOptions` of `@hostpace/core`. */
  hostpace?: RequestOptions
}
