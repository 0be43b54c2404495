import type { ScaleLinear } from 'd3-scale'
import { group, line, text } from './svg.ts'
import { colours } from './theme.ts'

/** Vertical rules with the seconds below them. */
export function secondsAxis(x: ScaleLinear<number, number>, top: number, bottom: number, ticks = 10): string {
  return group(
    {},
    ...x
      .ticks(ticks)
      .flatMap((seconds) => [
        line(x(seconds), top, x(seconds), bottom, { stroke: colours.grid }),
        text(x(seconds), bottom + 16, `${seconds} s`, { class: 'axis', 'text-anchor': 'middle' }),
      ]),
  )
}

/** Horizontal rules with the counts at their left. */
export function countAxis(y: ScaleLinear<number, number>, left: number, right: number, ticks = 4): string {
  return group(
    {},
    ...y
      .ticks(ticks)
      .flatMap((count) => [
        line(left, y(count), right, y(count), { stroke: colours.grid }),
        text(left - 8, y(count) + 4, String(count), { class: 'axis', 'text-anchor': 'end' }),
      ]),
  )
}
