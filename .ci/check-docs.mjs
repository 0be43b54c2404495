/**
 * Holds the documentation to what it says: every `ts` block of the README, the guide and the packages' READMEs is
 * compiled against the built packages, and those that need nothing but this repository are run.
 *
 * A block that imports an HTTP client is compiled only: it talks to hosts out there. A block that imports nothing
 * goes on from the block before it. CHANGELOGs and decisions are prose.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './command.mjs'
import { root } from './pnpm.mjs'

const httpClient = /from '(got|axios|undici)'/
const folder = join(root, 'reports', 'docs-check')
const settings = {
  extends: '../../tsconfig.base.json',
  compilerOptions: {
    noEmit: true,
    composite: false,
    declaration: false,
    declarationMap: false,
    isolatedDeclarations: false,
    noUnusedLocals: false,
    types: ['node'],
  },
  include: ['.'],
}

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
try {
  const blocks = documents().flatMap(blocksOf)
  for (const { file, code } of blocks) writeFileSync(join(folder, file), code)
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
  run([process.execPath, join(root, 'node_modules/typescript/bin/tsc'), '-p', folder])
  const runnable = blocks.filter(({ code }) => !httpClient.test(code))
  for (const { file } of runnable) run([join(root, 'node_modules/.bin/tsx'), join(folder, file)], { quiet: true })
  console.log(`${blocks.length} blocks compiled, ${runnable.length} of them run`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function documents() {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], { cwd: root, encoding: 'utf8' })
  return listed.split('\n').filter((path) => path !== '' && !/CHANGELOG|decisions|\.changeset/.test(path))
}

function blocksOf(path) {
  const text = readFileSync(join(root, path), 'utf8')
  const blocks = []
  let context = ''
  for (const [, code] of text.matchAll(/^```ts\n(.*?)^```$/gms)) {
    if (/^import /m.test(code)) context = code
    const file = `${path.replaceAll(/[/.]/g, '-')}-${blocks.length + 1}.mts`
    blocks.push({ file, code: code === context ? code : `${context}\n{\n${code}}\n` })
  }
  return blocks
}
