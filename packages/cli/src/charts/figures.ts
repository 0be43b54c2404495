import { rounded, showDuration } from '../durations.ts'
import type { Simulation } from '../simulation.ts'

/** What is told of each policy beside its picture, by what it is called. */
export function figuresOf(simulation: Simulation): readonly (readonly [label: string, value: string])[] {
  const { departures, refused, worstWindow, smallestGapMs, averagePerSecond } = simulation
  return [
    ['left', String(departures.length)],
    ['refused', String(refused)],
    ['all gone after', showDuration(departures.at(-1)?.departMs ?? 0)],
    [`worst ${showDuration(worstWindow.windowMs)}`, String(worstWindow.count)],
    ['smallest gap', smallestGapMs === null ? '-' : showDuration(smallestGapMs)],
    ['average', averagePerSecond === null ? 'all at once' : `${rounded(averagePerSecond)}/s`],
    ['mean wait', showDuration(simulation.meanWaitMs)],
    ['longest wait', showDuration(simulation.longestWaitMs)],
  ]
}
