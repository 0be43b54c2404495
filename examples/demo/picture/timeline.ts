import type { Policy } from '@hostpace/core'
import { type ScaleLinear, scaleLinear } from 'd3-scale'
import { area, line as curve, curveStepAfter } from 'd3-shape'
import type { LoggedRequest } from '../access-log.ts'
import { isRefusal, mostIn } from '../judge.ts'
import type { HostReport } from '../report.ts'
import { secondsAxis } from './axis.ts'
import { element, group, line, text, tooltip } from './svg.ts'
import { clientColours, colours, margin, width } from './theme.ts'

const rowHeight = 112
const chartHeight = 62
const rugHeight = 16

type Seconds = ScaleLinear<number, number>

/** One row per host: how many requests have arrived by when, and below it a tick for each, coloured by client. */
export function timeline(reports: readonly HostReport[], top: number): { svg: string; height: number } {
  const startMs = Math.min(...reports.map(({ log }) => log[0]?.arrivedMs ?? Number.POSITIVE_INFINITY))
  const endMs = Math.max(...reports.map(({ log }) => log.at(-1)?.arrivedMs ?? 0))
  const x = scaleLinear([0, (endMs - startMs) / 1000], [margin.left, width - margin.right])
  const bottom = top + reports.length * rowHeight
  const rows = reports.map((report, index) => row(report, startMs, x, top + index * rowHeight))
  return { svg: group({}, secondsAxis(x, top, bottom), ...rows), height: bottom - top + 30 }
}

function row({ name, asks, policy, log, verdict }: HostReport, startMs: number, x: Seconds, top: number): string {
  const at = (timeMs: number) => x((timeMs - startMs) / 1000)
  const base = top + 12 + chartHeight
  const y = scaleLinear([0, Math.max(1, log.length)], [base, top + 12])
  return group(
    {},
    line(24, top, width - margin.right, top, { stroke: colours.grid }),
    text(24, top + 34, name, { class: 'name' }),
    ...wrap(asks).map((part, index) => text(24, top + 53 + index * 16, part, { class: 'muted' })),
    text(24, top + 101, `${verdict.requests} requests`, { class: 'muted' }),
    ...holds(log, at, top + 1, rowHeight - 1),
    arrivalCurve(log, at, y, x),
    ceiling(log, policy, startMs + (x.domain()[1] as number) * 1000, at, y),
    line(margin.left, base, width - margin.right, base, { stroke: colours.muted, 'stroke-width': 0.75 }),
    ...log.map((request) => tick(request, at(request.arrivedMs), base + 6)),
  )
}

/** A staircase of one step per request, which goes on level after the last. */
function arrivalCurve(
  log: readonly LoggedRequest[],
  at: (timeMs: number) => number,
  y: ScaleLinear<number, number>,
  x: Seconds,
): string {
  const steps = log.map(({ arrivedMs }, index): [number, number] => [at(arrivedMs), y(index + 1)])
  const last = steps.at(-1)
  if (last === undefined) return ''
  const shape = area<[number, number]>(
    (step) => step[0],
    y(0),
    (step) => step[1],
  ).curve(curveStepAfter)
  const points: [number, number][] = [...steps, [x.range()[1] as number, last[1]]]
  return group(
    {},
    element('path', { d: shape(points) ?? '', fill: colours.ink, 'fill-opacity': 0.07 }),
    element('path', { d: shape.lineY1()(points) ?? '', fill: 'none', stroke: colours.ink, 'stroke-width': 1.25 }),
    text(last[0] + 6, last[1] - 4, String(log.length), { class: 'axis' }),
  )
}

/** The most that the policy permits from the first request on, until that is as many as were sent. */
function ceiling(
  log: readonly LoggedRequest[],
  policy: Policy,
  endMs: number,
  at: (timeMs: number) => number,
  y: ScaleLinear<number, number>,
): string {
  const points: [number, number][] = []
  const startMs = log[0]?.arrivedMs ?? endMs
  for (let timeMs = startMs; timeMs <= endMs; timeMs += 50) {
    const most = mostIn(timeMs - startMs, policy)
    points.push([at(timeMs), y(Math.min(most, log.length))])
    if (most >= log.length) break
  }
  const d = curve().curve(curveStepAfter)(points) ?? ''
  return element('path', { d, fill: 'none', stroke: colours.refused, 'stroke-dasharray': '3 3' })
}

function tick(request: LoggedRequest, x: number, top: number): string {
  const refused = isRefusal(request)
  const stroke = refused ? colours.refused : (clientColours[request.client] ?? colours.muted)
  const label = tooltip(`${request.path} by ${request.client}: ${request.status}`)
  if (!refused)
    return element('line', { x1: x, y1: top, x2: x, y2: top + rugHeight, stroke, 'stroke-width': 2.5 }, label)
  const arm = 5
  const middle = top + rugHeight / 2
  const d = `M${x - arm} ${middle - arm}l${2 * arm} ${2 * arm}m0 ${-2 * arm}l${-2 * arm} ${2 * arm}`
  return element('path', { d, stroke, 'stroke-width': 2.5 }, label)
}

/** The spans in which the host had asked for quiet. */
function holds(log: readonly LoggedRequest[], at: (timeMs: number) => number, top: number, height: number): string[] {
  return log.flatMap(({ answeredMs, retryAfterMs }) => {
    if (retryAfterMs === undefined) return []
    const [from, to] = [at(answeredMs), at(answeredMs + retryAfterMs)]
    return [
      element('rect', { x: from, y: top, width: to - from, height, fill: colours.held }),
      text((from + to) / 2, top + 18, `429, Retry-After: ${retryAfterMs / 1000}`, {
        class: 'axis',
        'text-anchor': 'middle',
      }),
    ]
  })
}

/** At most two lines that fit left of the chart. */
function wrap(words: string): string[] {
  const [first = '', ...rest] = words.split(/(?<=,) /)
  return rest.length === 0 ? [first] : [first, rest.join(' ')]
}
