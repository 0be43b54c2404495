import type { HostReport } from '../report.ts'
import { buckets } from './buckets.ts'
import { element, group, text } from './svg.ts'
import { clientColours, colours, style, width } from './theme.ts'
import { timeline } from './timeline.ts'

/** The whole picture as an SVG document: what the targets saw, and why the kind of bucket matters. */
export function picture(reports: readonly HostReport[]): string {
  const rows = timeline(reports, 96)
  const second = 96 + rows.height + 44
  const panels = buckets(second + 44)
  const height = second + 44 + panels.height
  return `${element(
    'svg',
    { xmlns: 'http://www.w3.org/2000/svg', width, height, viewBox: `0 0 ${width} ${height}`, role: 'img' },
    element('title', {}, 'A polite crawl as its targets saw it'),
    element('style', {}, style),
    element('rect', { width, height, fill: colours.paper }),
    text(24, 44, 'What the targets saw', { class: 'title' }),
    text(
      24,
      68,
      'Requests by the time of arrival in each host’s own access log, added up above and one by one below; dashed: the most that the policy permits',
      {
        class: 'muted',
      },
    ),
    legend(),
    rows.svg,
    text(24, second, 'Forty links to one host under Crawl-delay: 2', { class: 'heading' }),
    text(24, second + 20, 'How many have left by when, under two rules of the same average', { class: 'muted' }),
    panels.svg,
  )}\n`
}

function legend(): string {
  const entries = [...Object.entries(clientColours), ['refused', colours.refused] as const]
  const step = 82
  const left = width - 40 - entries.length * step
  return group(
    {},
    ...entries.map(([name, fill], index) =>
      group(
        {},
        element('rect', { x: left + index * step, y: 34, width: 12, height: 12, rx: 2, fill }),
        text(left + index * step + 18, 45, name),
      ),
    ),
  )
}
