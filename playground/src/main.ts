import { element, escaped } from '../../packages/cli/src/charts/markup.ts'
import { showDuration } from '../../packages/cli/src/durations.ts'
import { arrivalTimes } from './arrivals.ts'
import { departuresChart, type Frame, frameOf, windowChart } from './charts.ts'
import { type Side, sides } from './fields.ts'
import { figuresOf } from './figures.ts'
import { Form } from './form.ts'
import { limitOf } from './limit.ts'
import { type Outcome, outcomeOf } from './outcome.ts'
import { firstView, readSettings, type Settings, SettingsError } from './settings.ts'

const form = new Form(find('form'), () => {
  history.replaceState(null, '', `#${form.params}`)
  show(form.params)
})

addEventListener('hashchange', readAddress)
readAddress()

function readAddress(): void {
  const params = new URLSearchParams(location.hash.slice(1) || firstView)
  form.params = params
  show(params)
}

/** Draws what is set, or says what is wrong with it; the last picture then stays, paler. */
function show(params: URLSearchParams): void {
  const problem = find('#problem')
  try {
    draw(readSettings(params))
    problem.textContent = ''
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    problem.textContent = error.message
  }
  document.body.classList.toggle('stale', problem.textContent !== '')
}

function draw({ arrivals, host, windowMs, policies }: Settings): void {
  const times = arrivalTimes(arrivals)
  const limit = limitOf(host, windowMs)
  const outcomes = sides.map((side) => outcomeOf(policies[side], times, host, windowMs))
  const frame = frameOf(outcomes, times, limit)
  for (const [index, side] of sides.entries()) drawSide(side, outcomes[index] as Outcome, frame)
  find('#figures').innerHTML = tableOf(outcomes, limit)
  find('#summary').textContent = outcomes.map((outcome) => summaryOf(outcome, limit)).join(' ')
}

function drawSide(side: Side, outcome: Outcome, frame: Frame): void {
  const { name, policy, worstWindow } = outcome
  find(`#${side}-title`).textContent = name
  find(`#${side}-policy`).textContent = JSON.stringify(policy)
  find(`#${side}-departures`).innerHTML = departuresChart(outcome, side, frame)
  find(`#${side}-window-title`).textContent = `Requests in the ${showDuration(worstWindow.windowMs)} before each moment`
  find(`#${side}-window`).innerHTML = windowChart(outcome, side, frame)
}

function tableOf(outcomes: readonly Outcome[], limit: number): string {
  const columns = outcomes.map((outcome) => figuresOf(outcome, limit))
  const heads = outcomes.map(({ name }) => element('th', { scope: 'col' }, escaped(name)))
  const rows = [...(columns[0]?.keys() ?? [])].map((label) => {
    const cells = columns.map((figures) => element('td', {}, escaped(figures.get(label) ?? '')))
    return element('tr', {}, element('th', { scope: 'row' }, escaped(label)), ...cells)
  })
  const head = element('tr', {}, element('td'), ...heads)
  return element('thead', {}, head) + element('tbody', {}, ...rows)
}

function summaryOf({ name, worstWindow }: Outcome, limit: number): string {
  const permitted = Number.isFinite(limit) ? `, where the host permits ${limit}` : ''
  return `${name}: up to ${worstWindow.count} in ${showDuration(worstWindow.windowMs)}${permitted}.`
}

function find<T extends HTMLElement>(selector: string): T {
  const found = document.querySelector<T>(selector)
  if (found === null) throw new Error(`the page has no ${selector}`)
  return found
}
