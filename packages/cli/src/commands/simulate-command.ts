import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { readArrivals } from '../arrivals.ts'
import { figuresOf } from '../charts/figures.ts'
import { htmlPage } from '../charts/html-page.ts'
import { svgChart } from '../charts/svg-chart.ts'
import { terminalChart } from '../charts/terminal-chart.ts'
import { durationOption } from '../durations.ts'
import { CliError, messageOf } from '../errors.ts'
import type { Io } from '../io.ts'
import { printableLines } from '../printable.ts'
import { readPolicies } from '../read-policy.ts'
import { type Simulation, simulate } from '../simulation.ts'
import { table } from '../table.ts'

export interface SimulateOptions {
  readonly policy: readonly string[]
  readonly arrivals: string
  readonly span: string
  readonly seed: string
  readonly window: string
  readonly svg?: string
  readonly html?: string
  readonly json?: boolean
}

/** `hostpace simulate`: draws what policies make of some arrivals. */
export async function simulateCommand(options: SimulateOptions, io: Io): Promise<number> {
  const windowMs = durationOption('--window', options.window, 1)
  const arrivalOptions = { spanMs: durationOption('--span', options.span, 1), seed: seedOption(options.seed) }
  checkFiles(options)
  const policies = await readPolicies(options.policy)
  const arrivals = await readArrivals(options.arrivals, arrivalOptions, io)
  const simulations = policies.map((policy) => simulate(policy, arrivals, windowMs))
  if (options.svg !== undefined) await write('--svg', options.svg, svgChart(simulations, arrivals))
  if (options.html !== undefined) await write('--html', options.html, htmlPage(simulations, arrivals, options.arrivals))
  const json = () => [JSON.stringify({ arrivals, policies: simulations })]
  io.out(printableLines(options.json ? json() : linesOf(simulations, arrivals, io)))
  return 0
}

function seedOption(text: string): number {
  const seed = Number(text)
  if (/^-?\d{1,10}$/.test(text) && seed === (seed | 0)) return seed
  throw new CliError(`--seed must be a whole number of 32 bits, got '${text}'`)
}

function checkFiles({ svg, html }: SimulateOptions): void {
  if (svg === '-' || html === '-') throw new CliError("--svg and --html must name files, got '-'")
  if (svg !== undefined && html !== undefined && resolve(svg) === resolve(html)) {
    throw new CliError(`--svg and --html must name two files, got '${html}'`)
  }
}

async function write(option: string, path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text)
  } catch (error) {
    throw new CliError(`${option}: ${messageOf(error)}`, { cause: error })
  }
}

function linesOf(simulations: readonly Simulation[], arrivals: readonly number[], { columns }: Io): string[] {
  const labels = figuresOf(simulations[0] as Simulation).map(([label]) => label)
  const columnsOf = simulations.map((simulation) => figuresOf(simulation).map(([, value]) => value))
  const head = ['', ...simulations.map(({ name }) => name)]
  const rows = labels.map((label, row) => [label, ...columnsOf.map((values) => values[row] as string)])
  const chart = terminalChart(simulations, arrivals, columns)
  const isBounded = simulations.some(({ policy }) => policy.concurrency !== undefined)
  const note = isBounded ? ['', 'concurrency has no part in it: answers are not played'] : []
  return [...chart, '', ...table([head, ...rows]), ...note]
}
