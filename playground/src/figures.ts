import { rounded, showDuration } from '../../packages/cli/src/durations.ts'
import type { Outcome } from './outcome.ts'

/** What is told of a policy in the table, by the name of the row. */
export function figuresOf(outcome: Outcome, limit: number): ReadonlyMap<string, string> {
  const { departures, worstWindow, smallestGapMs, averagePerSecond, waitsByLayer, unwelcome } = outcome
  const waits = [...waitsByLayer].map(([layer, count]) => `${layer} (${count})`)
  const worst = Number.isFinite(limit) ? `${worstWindow.count}, limit ${limit}` : String(worstWindow.count)
  return new Map([
    ['smallest gap', smallestGapMs === null ? '-' : showDuration(rounded(smallestGapMs))],
    [`worst ${showDuration(worstWindow.windowMs)}`, worst],
    ['too early or too many', unwelcome === 0 ? 'none' : `${unwelcome} of ${departures.length}`],
    ['average rate', averagePerSecond === null ? 'all at once' : `${rounded(averagePerSecond)}/s`],
    ['median wait', showDuration(rounded(outcome.medianWaitMs))],
    ['longest wait', showDuration(rounded(outcome.longestWaitMs))],
    ['waited for', waits.length === 0 ? 'nothing' : waits.join(', ')],
    ['all gone after', showDuration(rounded(departures.at(-1)?.departMs ?? 0))],
  ])
}
