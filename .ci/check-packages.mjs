/** Checks the packages as they would be published: publint, the types by attw, and that only what is meant goes in. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './command.mjs'
import { root } from './pnpm.mjs'

const expected = /^(package\.json|README\.md|CHANGELOG\.md|LICENSE|src\/.+\.ts|dist\/.+\.(js|d\.ts)(\.map)?)$/
const required = ['package.json', 'README.md', 'LICENSE']
const entry = { library: ['dist/index.js', 'dist/index.d.ts'], program: ['dist/main.js'] }

const bin = (name) => join(root, 'node_modules/.bin', name)
const folder = mkdtempSync(join(tmpdir(), 'hostpace-pack-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

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

function complain(what, paths) {
  if (paths.length === 0) return
  console.error(`failed: ${what} ${paths.join(', ')}`)
  process.exit(1)
}
