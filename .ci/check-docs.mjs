/**
 * Holds the documentation to what it says: every `ts` block of the READMEs, the guide and the other pages is compiled
 * against the built packages, and those that need nothing but this repository are run.
 *
 * A block that imports a client of HTTP or Redis is compiled only: it talks to hosts out there, unless it makes or mocks one of
 * its own. A block that imports nothing goes on from the last one of its page that did. Changelogs and decisions are prose. What is
 * compiled keeps the line numbers of its page, so an error in `docs-guide.md-40.mts(43,7)` is on line 43 of docs/guide.md.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './command.mjs'
import { root } from './pnpm.mjs'

const client = /from '(got|axios|undici|ioredis)'/
const ownHost = /createServer\(|nock\(|new MockAgent\(/
const prose = /CHANGELOG|decisions\/|\.changeset\//
const limitMs = 30_000
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
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const blocks = documents().flatMap(blocksOf)
for (const { file, code } of blocks) writeFileSync(join(folder, file), code)
writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
run([process.execPath, join(root, 'node_modules/typescript/bin/tsc'), '-p', folder])

const runnable = blocks.filter(({ code }) => !client.test(code) || ownHost.test(code))
for (const { file } of runnable) {
  run([join(root, 'node_modules/.bin/tsx'), join(folder, file)], { quiet: true, timeoutMs: limitMs })
}
console.log(`${blocks.length} blocks compiled, ${runnable.length} of them run`)

function documents() {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], { cwd: root, encoding: 'utf8' })
  return listed.split('\n').filter((path) => path !== '' && existsSync(join(root, path)) && !prose.test(path))
}

function blocksOf(path) {
  const text = readFileSync(join(root, path), 'utf8')
  const blocks = []
  let context = ''
  for (const { index, 1: code } of text.matchAll(/^```ts\n(.*?)^```$/gms)) {
    const fence = lines(text.slice(0, index))
    const goesOn = !/^import /m.test(code)
    const above = goesOn ? context : ''
    const opening = '\n'.repeat(fence - lines(above))
    const whole = goesOn ? `${above}${opening}{\n${code}}\n` : `${opening}\n${code}`
    if (!goesOn) context = whole
    blocks.push({ file: `${path.replaceAll('/', '-')}-${fence + 1}.mts`, code: whole })
  }
  return blocks
}

/** How many lines end in a text. */
function lines(text) {
  return text.split('\n').length - 1
}
