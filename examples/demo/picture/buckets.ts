import { scaleLinear } from 'd3-scale'
import { line as curve, curveStepAfter } from 'd3-shape'
import { type Departures, fortyLinks, leftBy } from '../forty-links.ts'
import { countAxis, secondsAxis } from './axis.ts'
import { element, group, line, text } from './svg.ts'
import { colours, width } from './theme.ts'

const chartHeight = 190
const panelWidth = (width - 24 * 2 - 60) / 2
/** One second more than the eight that are spoken of, so that what leaves in the end is still on the chart. */
const spanSeconds = 10

/** The forty-links problem: the same links and the same average under two rules, side by side. */
export function buckets(top: number): { svg: string; height: number } {
  const { leaky, tokens } = fortyLinks()
  return {
    svg: group({}, panel(leaky, colours.leaky, 24, top), panel(tokens, colours.tokens, 24 + panelWidth + 60, top)),
    height: chartHeight + 90,
  }
}

function panel(departures: Departures, colour: string, left: number, top: number): string {
  const chartTop = top + 52
  const bottom = chartTop + chartHeight
  const right = left + panelWidth
  const x = scaleLinear([0, spanSeconds], [left + 34, right])
  const y = scaleLinear([0, 40], [bottom, chartTop])
  const shown = departures.leaveAtMs.filter((leaveMs) => leaveMs <= spanSeconds * 1000)
  const steps = shown.map((leaveMs, index): [number, number] => [x(leaveMs / 1000), y(index + 1)])
  const path = curve().curve(curveStepAfter)([[x(0), y(0)], ...steps, [x(spanSeconds), y(shown.length)]])
  return group(
    {},
    text(left, top + 14, departures.title, { class: 'name' }),
    text(left, top + 33, summary(departures), { class: 'muted' }),
    countAxis(y, x(0), right),
    secondsAxis(x, chartTop, bottom),
    line(x(0), bottom, right, bottom, { stroke: colours.muted, 'stroke-width': 0.75 }),
    element('path', { d: path ?? '', fill: 'none', stroke: colour, 'stroke-width': 2 }),
    ...steps.map(([cx, cy]) => element('circle', { cx, cy, r: 3.5, fill: colour })),
  )
}

function summary(departures: Departures): string {
  const [first, eighth] = [leftBy(departures, 1000), leftBy(departures, 8000)]
  const lastSeconds = (departures.leaveAtMs.at(-1) ?? 0) / 1000
  return `${first} in the first second, ${eighth} in the first 8 s, all forty after ${lastSeconds} s`
}
