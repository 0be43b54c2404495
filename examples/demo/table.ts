import Table from 'cli-table3'
import type { Verdict } from './judge.ts'
import type { HostReport } from './report.ts'

const noRules = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '' },
  ...{ bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '' },
  ...{ left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: ' ' },
}

type Row = [label: string, cell: (report: HostReport) => string]

const rows: Row[] = [
  ['asks for', ({ asks }) => asks],
  ['served by', ({ server }) => server],
  ['requests', ({ verdict }) => `${verdict.requests} in ${seconds(verdict.spanMs)} s`],
  ['stamped within', ({ verdict }) => `${verdict.resolutionMs} ms`],
  ['smallest gap', ({ verdict }) => `${verdict.smallestGapMs} ms`],
  ['worst window', ({ verdict: { worstWindow } }) => windowText(worstWindow)],
  ['refused', ({ verdict }) => String(verdict.refused)],
  ['allowed', ({ verdict }) => rateText(verdict.allowed, verdict.spanMs)],
  ['achieved', ({ verdict }) => rateText(verdict.requests, verdict.spanMs)],
  ['waits by layer', ({ waits }) => waitText(waits)],
  ['as declared', ({ verdict }) => (verdict.violations.length === 0 ? 'yes' : 'NO')],
]

/** The reports side by side, one column per host, within ninety columns of text. */
export function reportTable(reports: readonly HostReport[]): string {
  const table = new Table({
    chars: noRules,
    head: ['', ...reports.map(({ name }) => name)],
    colWidths: [16, ...reports.map(() => 18)],
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 1 },
    wordWrap: true,
  })
  for (const [label, cell] of rows) table.push([label, ...reports.map(cell)])
  return table.toString()
}

function windowText({ count, limit, windowMs }: Verdict['worstWindow']): string {
  return `${count} of ${limit} in ${windowMs / 1000} s`
}

function rateText(count: number, spanMs: number): string {
  return spanMs === 0 ? String(count) : `${((count / spanMs) * 1000).toFixed(2)}/s (${count})`
}

function waitText(waits: HostReport['waits']): string {
  const lines = Object.entries(waits).flatMap(([layer, wait]) =>
    wait === undefined || wait.ms < 50 ? [] : [`${layer} ${seconds(wait.ms)} s (${wait.count})`],
  )
  return lines.join('\n')
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}
