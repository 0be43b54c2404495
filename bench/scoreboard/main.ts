/**
 * Ten situations over hostpace and its peers, judged by what the hosts saw.
 *
 * ```sh
 * npm run scoreboard               # prints the table, in less than three minutes
 * npm run scoreboard -- --write    # and puts it into README.md and last-run.md
 * npm run scoreboard -- restart    # rows whose names have this in them
 * ```
 *
 * The peers play a situation side by side, each with hosts and processes of its own; most of the time they wait. What
 * fails is played up to three times, and the best counts, for all alike: a machine that holds something up fails anybody
 * now and then, and a limiter that is wrong fails again. A table that is to be shown wants a machine with nothing else to
 * do.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Peer } from './peer.ts'
import { peers } from './peers/index.ts'
import { runCell } from './run-cell.ts'
import type { Situation, Verdict } from './situation.ts'
import { situations } from './situations/index.ts'
import { type Row, scoreboardOf } from './table.ts'

const readme = new URL('../../../README.md', import.meta.url)
const lastRun = new URL('../../scoreboard/last-run.md', import.meta.url)
const mostTries = 3
const section = /(<!-- scoreboard -->\n\n).*?(\n<!-- \/scoreboard -->)/s

const { values, positionals } = parseArgs({ options: { write: { type: 'boolean' } }, allowPositionals: true })
const chosen = situations.filter(({ name }) => positionals.every((text) => name.includes(text)))
if (values.write && chosen.length < situations.length) throw new Error('--write is for all of them')

const rows: Row[] = []
for (const situation of chosen) {
  console.error(`${situation.name} ...`)
  rows.push({ situation, cells: await cellsOf(situation) })
}
const table = scoreboardOf(peers, rows)
console.log(table)
if (values.write) write(table)

async function cellsOf(situation: Situation): Promise<(Verdict | string)[]> {
  if (!situation.alone) return Promise.all(peers.map((peer) => bestOf(situation, peer)))
  const cells: (Verdict | string)[] = []
  for (const peer of peers) cells.push(await bestOf(situation, peer))
  return cells
}

async function bestOf(situation: Situation, peer: Peer): Promise<Verdict | string> {
  const first = await runCell(situation, peer)
  if (typeof first === 'string' || first.passed) return first
  for (let tries = 1; tries < mostTries; tries++) {
    const again = await runCell(situation, peer)
    if (typeof again === 'object' && again.passed) return again
  }
  return first
}

function write(table: string): void {
  const page = readFileSync(readme, 'utf8')
  if (!section.test(page)) throw new Error('README.md has no place for the scoreboard')
  writeFileSync(
    readme,
    page.replace(section, (_, opening: string, end: string) => `${opening}${table}${end}`),
  )
  writeFileSync(lastRun, table)
}
