import { type ScaleLinear, scaleLinear } from 'd3-scale'
import { curveStepAfter, line } from 'd3-shape'
import { element, escaped } from '../../packages/cli/src/charts/markup.ts'

const size = { width: 560, height: 220 }
const plot = { left: 44, right: 548, top: 14, bottom: 192 }

/** A point in seconds and requests. */
export type Point = readonly [seconds: number, count: number]

/** A picture over time: seconds to the right, requests upwards. Colours are given by style sheets, to classes. */
export class Chart {
  readonly #x: ScaleLinear<number, number>
  readonly #y: ScaleLinear<number, number>
  readonly #parts: string[] = []

  /** @param end where the axes end */
  constructor([seconds, count]: Point) {
    this.#x = scaleLinear([0, seconds], [plot.left, plot.right])
    this.#y = scaleLinear([0, count], [plot.bottom, plot.top])
    this.#parts.push(...this.#x.ticks(6).map((tick) => this.#upright(tick)))
    this.#parts.push(
      ...this.#y
        .ticks(5)
        .filter(Number.isInteger)
        .map((tick) => this.#level(tick)),
    )
  }

  /** A staircase: each count holds until the next. It begins at nothing and goes on to the end. */
  steps(points: readonly Point[], className: string): this {
    const [, endSeconds = 0] = this.#x.domain()
    const within: Point[] = [[0, 0], ...points.filter(([seconds]) => seconds <= endSeconds)]
    within.push([endSeconds, within.at(-1)?.[1] ?? 0])
    const path = line<Point>(
      ([seconds]) => this.#x(seconds),
      ([, count]) => this.#y(count),
    ).curve(curveStepAfter)
    return this.#add(element('path', { d: path(within) ?? '', class: className }))
  }

  dots(points: readonly Point[], className: string): this {
    const dots = points.map(([seconds, count]) =>
      element('circle', { cx: this.#x(seconds), cy: this.#y(count), r: 2.5, class: className }),
    )
    return this.#add(...dots)
  }

  /** A line across, and all above it as what is too much. */
  limit(count: number): this {
    const [x, y] = [plot.left, this.#y(count)]
    const width = plot.right - plot.left
    return this.#add(
      element('rect', { x, y: plot.top, width, height: y - plot.top, class: 'too-many' }),
      element('line', { x1: x, y1: y, x2: plot.right, y2: y, class: 'limit' }),
      element('text', { x: plot.right - 4, y: y - 5, class: 'limit-label' }, `limit ${count}`),
    )
  }

  /** @param told what those hear who do not see it */
  svg(told: string): string {
    const root = { viewBox: `0 0 ${size.width} ${size.height}`, role: 'img', 'aria-label': told }
    return element('svg', root, ...this.#parts)
  }

  #upright(seconds: number): string {
    const x = this.#x(seconds)
    return (
      element('line', { x1: x, y1: plot.top, x2: x, y2: plot.bottom, class: 'grid' }) +
      element('text', { x, y: plot.bottom + 18, class: 'tick' }, escaped(`${seconds} s`))
    )
  }

  #level(count: number): string {
    const y = this.#y(count)
    return (
      element('line', { x1: plot.left, y1: y, x2: plot.right, y2: y, class: 'grid' }) +
      element('text', { x: plot.left - 8, y: y + 4, class: 'tick level' }, String(count))
    )
  }

  #add(...parts: string[]): this {
    this.#parts.push(...parts)
    return this
  }
}
