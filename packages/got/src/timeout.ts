import type { Options } from 'got'

/** A mark of got 16, whose time-out for the whole request runs on while the request function is waited for. */
const runsWhileWaiting = 'mergeNextRequestOptions'

/** What was made of a budget. It lies beside the budget, under a symbol, because got copies both from hop to hop. */
const grownBudget = Symbol.for('hostpace.got.grownBudget')

interface Timeouts {
  request?: number | undefined
  [grownBudget]?: { ownMs: number; grownMs: number } | undefined
}

/**
 * Keeps a wait out of `timeout.request`. Up to got 15 it never counts. got 16 has one budget for all hops of an attempt
 * and looks at it again when its timer fires, so there it grows by as much as has been waited for.
 *
 * @returns what says that the wait is over
 */
export function holdTimeout(options: Options): () => void {
  const timeouts: Timeouts = options.timeout
  const budgetMs = timeouts.request
  if (!(runsWhileWaiting in options) || budgetMs === undefined) return () => {}
  const grown = timeouts[grownBudget]
  const ownMs = grown?.grownMs === budgetMs ? grown.ownMs : budgetMs
  const sinceMs = performance.now()
  const grownMs = () => budgetMs + performance.now() - sinceMs
  Object.defineProperty(timeouts, 'request', { get: grownMs })
  return () => {
    const value = grownMs()
    Object.defineProperty(timeouts, 'request', { value, writable: true })
    timeouts[grownBudget] = { ownMs, grownMs: value }
  }
}

/** Gives a new attempt the budget that the caller gave it, unless he has said otherwise meanwhile. */
export function restoreTimeout(options: Options): void {
  const timeouts: Timeouts = options.timeout
  const grown = timeouts[grownBudget]
  if (grown !== undefined && grown.grownMs === timeouts.request) timeouts.request = grown.ownMs
}
