import { showDuration } from '../durations.ts'
import type { Simulation } from '../simulation.ts'

const levels = ' ▁▂▃▄▅▆▇█'
const rows = 4

/** Bars of blocks for a terminal, line by line: how many requests leave in each stretch of time, all policies to one scale. */
export function terminalChart(
  simulations: readonly Simulation[],
  arrivals: readonly number[],
  columns: number,
): string[] {
  const width = Math.max(20, Math.min(columns - 8, 100))
  const endMs = Math.max(
    1,
    ...simulations.map(({ departures }) => departures.at(-1)?.departMs ?? 0),
    arrivals.at(-1) ?? 0,
  )
  const columnMs = endMs / (width - 1)
  const series = [
    { name: 'arrivals', counts: counted(arrivals, columnMs, width) },
    ...simulations.map(({ name, departures }) => ({
      name,
      counts: counted(
        departures.map(({ departMs }) => departMs),
        columnMs,
        width,
      ),
    })),
  ]
  const most = Math.max(1, ...series.flatMap(({ counts }) => counts))
  const charts = series.flatMap(({ name, counts }, index) => [...(index > 0 ? [''] : []), name, ...bars(counts, most)])
  const margin = ' '.repeat(6)
  const axis = `${margin}0${showDuration(endMs).padStart(width - 1)}`
  return [...charts, axis, `${margin}a column is ${showDuration(columnMs)}`]
}

function counted(times: readonly number[], columnMs: number, width: number): number[] {
  const counts = Array<number>(width).fill(0)
  for (const time of times) {
    const column = Math.min(width - 1, Math.floor(time / columnMs + 1e-9))
    counts[column] = (counts[column] as number) + 1
  }
  return counts
}

function bars(counts: readonly number[], most: number): string[] {
  const steps = levels.length - 1
  // What is there at all is seen.
  const heights = counts.map((count) => Math.max(Math.sign(count), Math.round((count / most) * rows * steps)))
  return Array.from({ length: rows }, (_, row) => {
    const below = (rows - 1 - row) * steps
    const blocks = heights.map((height) => levels[Math.max(0, Math.min(steps, height - below))])
    const label = row === 0 ? String(most) : row === rows - 1 ? '0' : ''
    return `${label.padStart(5)} ${blocks.join('')}`.trimEnd()
  })
}
