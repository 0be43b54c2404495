/** Checks the packages as they would be published: publint, the types by attw, and that only what is meant goes in. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './command.mjs'
import { pnpm, root } from './pnpm.mjs'

const bin = (name) => join(root, 'node_modules/.bin', name)
const folder = mkdtempSync(join(tmpdir(), 'hostpace-pack-'))

try {
  for (const name of readdirSync(join(root, 'packages'))) {
    const [command, ...args] = pnpm
    const options = { cwd: join(root, 'packages', name), encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }
    const packed = JSON.parse(execFileSync(command, [...args, 'pack', '--json', '--pack-destination', folder], options))
    const stray = packed.files
      .map(({ path }) => path)
      .filter((path) => !/^(dist|src)\/|^(README|LICENSE|package\.json)/.test(path))
    if (stray.length > 0) throw new Error(`${packed.name} would publish ${stray.join(', ')}`)
    run([bin('publint'), '--strict', packed.filename], { quiet: true })
    run([bin('attw'), packed.filename, '--profile', 'esm-only', '--quiet'])
    console.log(`${packed.name}: ${packed.files.length} files`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
