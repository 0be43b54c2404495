import { type Check, check } from './checks.ts'
import { type Ending, endings } from './ending.ts'
import type { Finding } from './judge.ts'
import { table } from './table.ts'

/** What has become of one origin. */
export interface OriginReport {
  readonly name: string
  /** Requests that the pacer let go, those that the server saw, and those that the pacer turned away. */
  readonly departures: number
  readonly arrived: number
  readonly refused: number
  readonly findings: readonly Finding[]
}

/** Requests by client and ending. */
export function clientTable(tally: ReadonlyMap<string, ReadonlyMap<Ending, number>>): string {
  const rows = [...tally]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, counts]) => ({ name, counts: endings.map((ending) => counts.get(ending) ?? 0) }))
  const all = endings.map((_, at) => rows.reduce((sum, { counts }) => sum + (counts[at] ?? 0), 0))
  const lines = [...rows, { name: 'all', counts: all }]
  return table(
    ['client', 'requests', ...endings],
    lines.map(({ name, counts }) => [name, counts.reduce((sum, count) => sum + count, 0), ...counts]),
  )
}

/** Departures by origin, and the worst that each saw of each rule. */
export function originTable(reports: readonly OriginReport[]): string {
  const rows = reports.flatMap(({ name, departures, arrived, refused, findings }) =>
    findings.map(({ rule, worst, allowed, unit }, at) => [
      ...(at === 0 ? [name, departures, arrived, refused] : ['', '', '', '']),
      rule,
      worst,
      `${allowed} ${unit}`,
    ]),
  )
  return table(['origin', 'let go', 'arrived', 'turned away', 'rule', 'worst', 'allowed'], rows)
}

/** What must be so of each origin. */
export function originChecks({ name, arrived, departures, findings }: OriginReport): Check[] {
  return [
    check(`${name}: nothing came that was not let go`, arrived <= departures, `${arrived} came, ${departures} were`),
    ...findings.map(({ rule, worst, allowed, unit, isKept }) =>
      check(`${name}: ${rule}`, isKept, `${worst} ${unit} where ${allowed} are allowed`),
    ),
  ]
}
