import type { Peer } from './peer.ts'
import type { Situation, Verdict } from './situation.ts'

/** A row of the scoreboard: what came of a situation with each of the peers, in their order. */
export interface Row {
  readonly situation: Situation
  readonly cells: readonly (Verdict | string)[]
}

/** The scoreboard as Markdown. */
export function scoreboardOf(peers: readonly Peer[], rows: readonly Row[]): string {
  const lines = [
    ['situation', 'what the host must see', ...peers.map(({ name }) => name)],
    ['---', '---', ...peers.map(() => '---')],
    ...rows.map(({ situation, cells }) => [situation.name, situation.rule, ...cells.map(textOf)]),
  ]
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('')
}

function textOf(cell: Verdict | string): string {
  if (typeof cell === 'string') return `– ${cell}`
  return `${cell.passed ? '✅' : '❌'} ${cell.seen}`
}
