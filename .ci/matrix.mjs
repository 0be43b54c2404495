/**
 * Runs the adapter suite on every Node with every client: `npm run test:matrix`, or `npm run test:matrix -- got-16 node-24`
 * for those whose names are given; with `plain` among them over plain HTTP/1.1 only. `commonjs` among the clients is a
 * program that loads every package by `require()`, `sqlite` are the tests of that store, whose SQLite comes from Node or not.
 * Prints a table; the versions stand in `test/matrix/package.json`.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from './command.mjs'
import { root } from './pnpm.mjs'
import { resultIn } from './test-report.mjs'

const folder = join(root, 'test/matrix')
const isPlain = process.argv.includes('plain')
const asked = process.argv.slice(2).filter((name) => name !== 'plain')
/** The names of tests that go another way than over plain HTTP/1.1 say so. */
const plainTests = '^((?! over (?:TLS|HTTP/2|proxy|tunnel)).)*$'
/** Most of its time a suite waits. */
const sideBySide = 3
const limitMs = 600_000
const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
/** What is run on every Node, and is no client. */
const ours = { commonjs: 'require()', sqlite: '@hostpace/sqlite' }
const names = [...Object.keys(dependencies), ...Object.keys(ours)]
/** What is run of each client. */
const suites = {
  got: ['packages/got/test/adapter-suite'],
  axios: ['packages/axios/test/adapter-suite'],
  undici: ['packages/undici/test/adapter-suite', 'packages/undici/test/orders', 'test/built-in-fetch'],
  nock: ['test/nock-', 'test/built-in-fetch'],
  sqlite: ['packages/sqlite/test'],
}
/** The fetch of Node 26 does not look where undici 6 puts its global dispatcher. */
const hasGlobalDispatcher = (node, client) => node !== 'node-26' || client !== 'undici-6'

const unknown = asked.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(', ')}; known are ${names.join(', ')}`)
  process.exit(2)
}

install()
const nodes = chosen((name) => name.startsWith('node-'))
const clients = chosen((name) => !name.startsWith('node-'))
const cells = new Map(clients.flatMap((client) => nodes.map((node) => [`${client} on ${node}`, { client, node }])))
const results = new Map()
await Promise.all(Array.from({ length: sideBySide }, runNext))
const rows = clients.map((client) => ({ client, cells: nodes.map((node) => results.get(`${client} on ${node}`)) }))

console.log(`\n| | ${nodes.map((node) => `Node ${versionOf(node)}`).join(' | ')} |`)
console.log(`| --- |${nodes.map(() => ' ---: |').join('')}`)
for (const { client, cells } of rows) {
  console.log(`| ${labelOf(client)} | ${cells.map(({ text }) => text).join(' | ')} |`)
}
const failures = rows.flatMap(({ cells }) => cells.flatMap(({ failed }) => failed))
for (const failure of failures) console.error(failure)
process.exitCode = failures.length > 0 ? 1 : 0

function install() {
  const done = join(folder, 'node_modules/.package-lock.json')
  if (existsSync(done) && Object.keys(dependencies).every((name) => existsSync(join(folder, 'node_modules', name))))
    return
  console.log('matrix: installing every Node and every client')
  run(['npm', 'ci', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'])
}

/** Those of a kind that were asked for, or all if none of the kind was. */
function chosen(isOfKind) {
  const all = names.filter(isOfKind)
  const some = all.filter((name) => asked.includes(name))
  return some.length > 0 ? some : all
}

function labelOf(client) {
  return ours[client] ?? `${client.split('-')[0]} ${versionOf(client)}`
}

function versionOf(name) {
  return manifestOf(name).version
}

/** What the client says of itself: `>=22.19` or the like. */
function isTooOld(node, client) {
  const [, major, minor = 0] = /(\d+)(?:\.(\d+))?/.exec(manifestOf(client).engines?.node ?? '0')
  const [ourMajor, ourMinor] = versionOf(node).split('.').map(Number)
  return ourMajor < Number(major) || (ourMajor === Number(major) && ourMinor < Number(minor))
}

function manifestOf(name) {
  return JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8'))
}

/** The file that an `import` of the client loads. */
function entryOf(client) {
  const program = `console.log(import.meta.resolve(${JSON.stringify(client)}))`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: folder,
    encoding: 'utf8',
  })
  return fileURLToPath(stdout.trim())
}

/** Runs one suite after another, as long as there are any. */
async function runNext() {
  for (const [where, { client, node }] of cells) {
    cells.delete(where)
    results.set(where, await resultOf(where, node, client))
  }
}

function resultOf(where, node, client) {
  if (client === 'commonjs') return requireAll(where, node)
  return !(client in ours) && isTooOld(node, client)
    ? { text: 'needs a newer Node', failed: [] }
    : runSuite(where, node, client)
}

async function requireAll(where, node) {
  const output = await outputOf(programOf(node), [join(folder, 'require-all.cjs')], process.env)
  if (!output.startsWith('{')) return told(where, 'no report', [`${where}: ${output}`])
  const all = Object.entries(JSON.parse(output))
  const failed = all.filter(([, problem]) => problem !== '').map(([name, problem]) => `${where}: ${name}\n  ${problem}`)
  return told(where, failed.length > 0 ? `${failed.length} failed` : `${all.length} passed`, failed)
}

function programOf(node) {
  return join(folder, 'node_modules', node, 'bin/node')
}

async function runSuite(where, node, client) {
  const [name] = client.split('-')
  const report = join(root, `reports/matrix-${client}-${node}.json`)
  rmSync(report, { force: true })
  const args = [
    join(root, 'node_modules/vitest/vitest.mjs'),
    ...['run', '--config', 'vitest.matrix.config.ts'],
    ...(isPlain ? ['--testNamePattern', plainTests] : []),
    ...suites[name].filter((suite) => suite !== 'test/built-in-fetch' || hasGlobalDispatcher(node, client)),
  ]
  const path = client in ours ? 'none' : entryOf(client)
  const env = { ...process.env, HOSTPACE_CLIENT: `${name}=${path}`, HOSTPACE_REPORT: report }
  const output = await outputOf(programOf(node), args, env)
  const { text, failed } = resultIn(report, where, output)
  return told(where, text, failed)
}

/** What a program prints until it ends, which it must within ten minutes. */
function outputOf(program, args, env) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: limitMs })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    child.on('close', () => resolve(output))
    child.on('error', (error) => resolve(String(error)))
  })
}

function told(where, text, failed) {
  console.log(`matrix: ${where}: ${text}`)
  return { text, failed }
}
