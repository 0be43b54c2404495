/**
 * Brings a clone to where tests and demo can run, and says what it does: installs the packages from the lock file,
 * builds what is stale, and sees to the system parts named on the command line. What is there already is left alone.
 * It uses Node, npm and git only, since nothing else is there at first.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from './build.mjs'
import { run } from './command.mjs'
import { pnpm, root } from './pnpm.mjs'
import { ensureSystemParts } from './system-parts.mjs'

checkNode()
installPackages()
console.log('setup: building what is stale')
build()
ensureSystemParts(process.argv.slice(2))

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  console.error(`setup: this is Node.js ${process.versions.node}; hostpace needs 20.19 or newer`)
  process.exit(1)
}

function installPackages() {
  const stamp = join(root, 'node_modules', '.hostpace-installed')
  const wanted = `${process.version} ${hashOf(manifests())}`
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  console.log('setup: installing packages from the lock file')
  run([...pnpm, 'install', '--frozen-lockfile', '--reporter=append-only'], { quiet: true })
  writeFileSync(stamp, wanted)
}

/** Everything that decides what is to be installed. */
function manifests() {
  const workspaces = [
    '.',
    'examples',
    'test',
    'bench',
    'playground',
    ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}`),
  ]
  const files = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...workspaces.map((folder) => `${folder}/package.json`)]
  return files.map((file) => join(root, file)).filter((file) => existsSync(file))
}

function hashOf(files) {
  const hash = createHash('sha256')
  for (const file of files) hash.update(readFileSync(file))
  return hash.digest('hex')
}
