import type { Simulation } from '../simulation.ts'
import { figuresOf } from './figures.ts'
import { element, escaped } from './markup.ts'
import { svgChart } from './svg-chart.ts'
import { colours } from './theme.ts'

const style = `body { font: 15px/1.5 system-ui, sans-serif; color: ${colours.ink}; max-width: 1160px; margin: 2rem auto; padding: 0 1rem }
svg { max-width: 100%; height: auto }
table { border-collapse: collapse }
th, td { padding: 0.3rem 0.8rem; border-bottom: 1px solid ${colours.grid}; text-align: right }
th:first-child { text-align: left }
code { overflow-wrap: anywhere }`

/** A page that needs nothing from elsewhere: the chart, the figures, and the policies as JSON. */
export function htmlPage(simulations: readonly Simulation[], arrivals: readonly number[], asked: string): string {
  const heading = 'Departures under each policy'
  const labels = simulations[0] === undefined ? [] : figuresOf(simulations[0]).map(([label]) => label)
  const head = element('tr', {}, ...['policy', ...labels].map((label) => element('th', {}, escaped(label))))
  const rows = simulations.map((simulation) => {
    const cells = figuresOf(simulation).map(([, value]) => element('td', {}, escaped(value)))
    return element('tr', {}, element('th', {}, escaped(simulation.name)), ...cells)
  })
  const policies = simulations.map(({ name, policy }) =>
    element('p', {}, `${escaped(name)}: `, element('code', {}, escaped(JSON.stringify(policy)))),
  )
  const dashed = `${arrivals.length} arrivals (${asked}); dashed: how many had come, solid: how many had left`
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${heading}</title>
<style>${style}</style></head>
<body>
<h1>${heading}</h1>
<p>${escaped(dashed)}</p>
${svgChart(simulations, arrivals)}${element('table', {}, head, ...rows)}
${policies.join('\n')}
</body>
</html>
`
}
