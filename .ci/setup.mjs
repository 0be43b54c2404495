/**
 * Brings a clone to where tests and demo can run, and says what it does: installs the packages from the lock file,
 * builds what is stale, and sees to the system parts named on the command line. What is there already is left alone.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './command.mjs'
import { pnpm, root } from './pnpm.mjs'
import { ensureSystemPart } from './system-parts.mjs'

installPackages()
build()
for (const part of process.argv.slice(2)) ensureSystemPart(part)

function installPackages() {
  const stamp = join(root, 'node_modules', '.hostpace-installed')
  const wanted = `${process.version} ${hashOf('pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json')}`
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  console.log('setup: installing packages from the lock file')
  run([...pnpm, 'install', '--frozen-lockfile', '--reporter=silent'])
  writeFileSync(stamp, wanted)
}

function build() {
  console.log('setup: building what is stale')
  run([process.execPath, join(root, 'node_modules/typescript/bin/tsc'), '-b'])
}

function hashOf(...files) {
  const hash = createHash('sha256')
  for (const file of files) hash.update(readFileSync(join(root, file)))
  return hash.digest('hex')
}
