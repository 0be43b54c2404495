/** Builds what is stale, and takes away what was built from sources that are gone: it would be published otherwise. */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './command.mjs'
import { root } from './pnpm.mjs'

export function build() {
  for (const name of readdirSync(join(root, 'packages'))) removeOrphans(join(root, 'packages', name))
  run([process.execPath, join(root, 'node_modules/typescript/bin/tsc'), '-b'])
}

function removeOrphans(folder) {
  const built = join(folder, 'dist')
  if (!existsSync(built)) return
  for (const path of readdirSync(built, { recursive: true })) {
    const output = path.match(/^(.*)\.(?:d\.(c?)ts|(c?)js)(?:\.map)?$/)
    if (output && !existsSync(join(folder, 'src', `${output[1]}.${output[2] ?? output[3]}ts`)))
      rmSync(join(built, path))
  }
}
