import { showDuration } from '../../packages/cli/src/durations.ts'
import { Chart, type Point } from './chart.ts'
import type { Side } from './fields.ts'
import type { Outcome } from './outcome.ts'
import { windowCounts } from './window-counts.ts'

/** More dots than this would run into one another. */
const mostDots = 200

/** What the pictures of both policies share, so that they can be compared. */
export interface Frame {
  readonly arrivals: readonly number[]
  readonly endMs: number
  /** The most requests in one window that the host permits; `Infinity` for any number. */
  readonly limit: number
  /** The most in one window under any of the policies. */
  readonly mostInWindow: number
}

export function frameOf(outcomes: readonly Outcome[], arrivals: readonly number[], limit: number): Frame {
  const lastMs = Math.max(arrivals.at(-1) ?? 0, ...outcomes.map(({ departures }) => departures.at(-1)?.departMs ?? 0))
  const windowMs = outcomes[0]?.worstWindow.windowMs ?? 0
  return {
    arrivals,
    // Where all is over at once there is still the window to be seen.
    endMs: lastMs > 0 ? lastMs : windowMs,
    limit,
    mostInWindow: Math.max(1, ...outcomes.map(({ worstWindow }) => worstWindow.count)),
  }
}

/** How many had left by when, and dashed how many had come. */
export function departuresChart(outcome: Outcome, side: Side, { arrivals, endMs }: Frame): string {
  const departures = outcome.departures.map(({ departMs }) => departMs)
  const last = showDuration(departures.at(-1) ?? 0)
  return new Chart([endMs / 1000, Math.max(1, arrivals.length)])
    .steps(counted(arrivals), 'arrivals')
    .steps(counted(departures), `departures ${side}`)
    .dots(departures.length > mostDots ? [] : counted(departures), `departure ${side}`)
    .svg(`${outcome.name}: ${arrivals.length} requests came, the last left after ${last}`)
}

/** How many left in the window before each moment, against what the host permits. */
export function windowChart(outcome: Outcome, side: Side, { endMs, limit, mostInWindow }: Frame): string {
  const { name, departures, worstWindow } = outcome
  const hasLimit = Number.isFinite(limit)
  const times = departures.map(({ departMs }) => departMs)
  const counts = windowCounts(times, worstWindow.windowMs).map(({ atMs, count }): Point => [atMs / 1000, count])
  const chart = new Chart([endMs / 1000, Math.max(mostInWindow, hasLimit ? limit : 0) * 1.15])
  if (hasLimit) chart.limit(limit)
  const permitted = hasLimit ? `; the host permits ${limit}` : ''
  const told = `${name}: at most ${worstWindow.count} in any ${showDuration(worstWindow.windowMs)}${permitted}`
  return chart.steps(counts, `departures ${side}`).svg(told)
}

function counted(times: readonly number[]): Point[] {
  return times.map((ms, index) => [ms / 1000, index + 1])
}
