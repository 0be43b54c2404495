/**
 * Packs all packages as they would be published, into the folder named on the command line, and prints what pnpm says
 * of them: `[{name, version, filename, files: [{path}]}]`.
 */
import { execFileSync } from 'node:child_process'
import { pnpm, root } from './pnpm.mjs'

const [folder] = process.argv.slice(2)
if (folder === undefined || folder.startsWith('-')) {
  console.error('usage: node .ci/pack.mjs <folder>')
  process.exit(2)
}
const [command, ...args] = [...pnpm, '-r', '--filter', './packages/*', 'pack', '--json', '--pack-destination', folder]
const printed = execFileSync(command, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
const packed = JSON.parse(printed)
console.log(JSON.stringify(Array.isArray(packed) ? packed : [packed]))
