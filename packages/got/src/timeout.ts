import type { Options } from 'got'

/** A mark of got 16, whose time-out for the whole request runs on while the request function is waited for. */
const runsWhileWaiting = 'mergeNextRequestOptions'

/**
 * Keeps a wait out of `timeout.request`. Up to got 15 it never counts. got 16 looks at the budget again when its
 * timer fires, so there the budget grows by as much as has been waited for.
 *
 * @returns what says that the wait is over
 */
export function holdTimeout(options: Options): () => void {
  const budgetMs = options.timeout.request
  if (!(runsWhileWaiting in options) || budgetMs === undefined) return () => {}
  const sinceMs = performance.now()
  let waitedMs: number | undefined
  Object.defineProperty(options.timeout, 'request', {
    configurable: true,
    enumerable: true,
    get: () => budgetMs + (waitedMs ?? performance.now() - sinceMs),
  })
  return () => {
    waitedMs = performance.now() - sinceMs
  }
}
