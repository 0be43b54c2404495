import { type ScaleLinear, scaleLinear } from 'd3-scale'
import { curveStepAfter, line } from 'd3-shape'
import type { Simulation } from '../simulation.ts'
import { figuresOf } from './figures.ts'
import { element, escaped } from './markup.ts'
import { colourOf, colours } from './theme.ts'

const panel = { width: 560, height: 300, top: 76, left: 56, right: 20, bottom: 44 }
/** More dots than this would run into one another. */
const mostDots = 200

type Scale = ScaleLinear<number, number>

/** A panel per policy, side by side: how many requests have left by when, all to one scale, and dashed how many had come. */
export function svgChart(simulations: readonly Simulation[], arrivals: readonly number[]): string {
  const columns = Math.min(2, simulations.length)
  const width = columns * panel.width
  const height = Math.ceil(simulations.length / columns) * panel.height
  const endMs = Math.max(
    1,
    ...simulations.map(({ departures }) => departures.at(-1)?.departMs ?? 0),
    arrivals.at(-1) ?? 0,
  )
  const panels = simulations.map((simulation, index) => {
    const x = (index % columns) * panel.width
    const y = Math.floor(index / columns) * panel.height
    return element('g', { transform: `translate(${x} ${y})` }, onePanel(simulation, arrivals, endMs, colourOf(index)))
  })
  const size = { width, height, viewBox: `0 0 ${width} ${height}` }
  const title = element('title', {}, escaped(`Departures under ${simulations.map(({ name }) => name).join(', ')}`))
  const paper = element('rect', { width, height, fill: colours.paper })
  const root = {
    xmlns: 'http://www.w3.org/2000/svg',
    ...size,
    role: 'img',
    'font-family': 'Helvetica, Arial, sans-serif',
  }
  return `${element('svg', root, title, paper, ...panels)}\n`
}

function onePanel(simulation: Simulation, arrivals: readonly number[], endMs: number, colour: string): string {
  const { name, departures } = simulation
  const [right, bottom] = [panel.width - panel.right, panel.height - panel.bottom]
  const x = scaleLinear([0, endMs / 1000], [panel.left, right])
  const y = scaleLinear([0, Math.max(1, arrivals.length)], [bottom, panel.top])
  const times = departures.map(({ departMs }) => departMs)
  const dots = times.length > mostDots ? [] : times.map((ms, index) => dot(x(ms / 1000), y(index + 1), colour))
  return [
    label(panel.left, 28, shortened(name), { 'font-size': 15, 'font-weight': 600, fill: colours.ink }),
    label(panel.left, 48, summaryOf(simulation)),
    axes(x, y),
    staircase(arrivals, x, y, { stroke: colours.muted, 'stroke-width': 1, 'stroke-dasharray': '4 3' }),
    staircase(times, x, y, { stroke: colour, 'stroke-width': 2 }),
    ...dots,
  ].join('')
}

function staircase(times: readonly number[], x: Scale, y: Scale, style: Record<string, string | number>): string {
  const [startSeconds = 0, endSeconds = 0] = x.domain()
  const steps = times.map((ms, index): [number, number] => [x(ms / 1000), y(index + 1)])
  const points: [number, number][] = [[x(startSeconds), y(0)], ...steps, [x(endSeconds), y(times.length)]]
  return element('path', { d: line().curve(curveStepAfter)(points) ?? '', fill: 'none', ...style })
}

function axes(x: Scale, y: Scale): string {
  const [bottom = 0, top = 0] = y.range()
  const [left = 0, right = 0] = x.range()
  const upright = x
    .ticks(6)
    .flatMap((seconds) => [
      rule(x(seconds), top, x(seconds), bottom),
      label(x(seconds), bottom + 18, `${seconds} s`, { 'text-anchor': 'middle' }),
    ])
  const level = y
    .ticks(5)
    .filter(Number.isInteger)
    .flatMap((count) => [
      rule(left, y(count), right, y(count)),
      label(left - 8, y(count) + 4, String(count), { 'text-anchor': 'end' }),
    ])
  return [...upright, ...level].join('')
}

function summaryOf(simulation: Simulation): string {
  const told = new Set(['left', 'all gone after', 'smallest gap', 'average'])
  const figures = figuresOf(simulation).filter(([name]) => told.has(name) || name.startsWith('worst'))
  return figures.map(([name, value]) => `${name} ${value}`).join(', ')
}

function dot(cx: number, cy: number, fill: string): string {
  return element('circle', { cx, cy, r: 2.5, fill })
}

function rule(x1: number, y1: number, x2: number, y2: number): string {
  return element('line', { x1, y1, x2, y2, stroke: colours.grid })
}

function label(x: number, y: number, content: string, style: Record<string, string | number> = {}): string {
  return element('text', { x, y, 'font-size': 12, fill: colours.muted, ...style }, escaped(content))
}

function shortened(name: string): string {
  return name.length <= 70 ? name : `${name.slice(0, 69)}…`
}
