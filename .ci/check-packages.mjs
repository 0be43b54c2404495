/**
 * Checks the packages as they would be published: publint, the types by attw, that only what is meant goes in, that their
 * manifests say what all of them have to say, and that the README tells the size that each is held to.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './command.mjs'
import { root } from './pnpm.mjs'

const expected = /^(package\.json|README\.md|CHANGELOG\.md|LICENSE|src\/.+\.c?ts|dist\/.+\.(c?js|d\.c?ts)(\.map)?)$/
const required = ['package.json', 'README.md', 'LICENSE']
const entry = { library: ['dist/index.js', 'dist/index.d.ts'], program: ['dist/main.js'] }

const bin = (name) => join(root, 'node_modules/.bin', name)
const folder = mkdtempSync(join(tmpdir(), 'hostpace-pack-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

checkManifests()

const packer = [join(root, '.ci/pack.mjs'), folder]
const packed = JSON.parse(execFileSync(process.execPath, packer, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }))
for (const { name, filename, files } of packed) {
  const paths = files.map(({ path }) => path)
  const isProgram = paths.includes('dist/main.js')
  complain(
    `${name} would publish`,
    paths.filter((path) => !expected.test(path)),
  )
  complain(
    `${name} would be published without`,
    [...required, ...entry[isProgram ? 'program' : 'library']].filter((path) => !paths.includes(path)),
  )
  run([bin('publint'), '--strict', filename], { quiet: true })
  // A program has no types to get wrong.
  if (!isProgram) run([bin('attw'), filename, '--profile', 'esm-only', '--quiet'])
  console.log(`${name}: ${paths.length} files`)
}

function checkManifests() {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const budgets = readJson('.size-limit.json')
  const { engines } = readJson('package.json')
  for (const folder of readdirSync(join(root, 'packages'))) {
    const manifest = readJson(`packages/${folder}/package.json`)
    const { name, peerDependencies = {} } = manifest
    const limit = budgets.find((budget) => budget.name === name)?.limit
    const line = readme.split('\n').find((text) => text.includes(`[\`${name}\`](packages/${folder})`))
    const openPeers = Object.entries(peerDependencies).filter(([, range]) => !/^\^|</.test(range))
    complain(`${name}: its package.json lacks`, [
      ...(manifest.license === 'MIT' ? [] : ['license: MIT']),
      ...(manifest.engines?.node === engines.node ? [] : [`engines.node: ${engines.node}`]),
      ...(manifest.publishConfig?.access === 'public' ? [] : ['publishConfig.access: public']),
      ...(manifest.publishConfig?.provenance === true ? [] : ['publishConfig.provenance: true']),
      ...openPeers.map(([peer]) => `an upper bound of its peer ${peer}`),
    ])
    complain(`${name}: .size-limit.json has`, limit === undefined ? ['no budget of it'] : [])
    complain(`${name}: the package table of README.md says`, line?.endsWith(`| ${limit} |`) ? [] : [`not ${limit}`])
  }
}

function readJson(path) {
  return JSON.parse(readFileSync(join(root, path), 'utf8'))
}

function complain(what, paths) {
  if (paths.length === 0) return
  console.error(`failed: ${what} ${paths.join(', ')}`)
  process.exit(1)
}
