/** Sees to it that README.md shows the scoreboard as `npm run scoreboard -- --write` last wrote it, with all of its rows. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './pnpm.mjs'

const folder = join(root, 'bench/scoreboard')
const lastRun = readFileSync(join(folder, 'last-run.md'), 'utf8')
const shown = /<!-- scoreboard -->\n\n(.*?)\n<!-- \/scoreboard -->/s.exec(readFileSync(join(root, 'README.md'), 'utf8'))
const rows = lastRun.trim().split('\n').length - 2
const situations = readdirSync(join(folder, 'situations')).filter((file) => file !== 'index.ts').length

if (shown?.[1] !== lastRun) complain('README.md does not show bench/scoreboard/last-run.md')
if (rows !== situations) complain(`it has ${rows} rows for ${situations} situations`)
console.log(`the README shows the scoreboard as it was last written: ${rows} situations`)

function complain(what) {
  console.error(`failed: ${what}; run: npm run scoreboard -- --write`)
  process.exit(1)
}
