/**
 * Runs core, fetch and robots, as they would be published, in Node, Bun, Deno and in a page and a worker of Chromium: `npm
 * run test:runtimes`. One program asks two hosts, which write down who came; both have to find all as it should be. Prints a
 * table; the versions stand in `test/runtimes/package.json`. Chromium is that of the system, and is done without if it
 * cannot be had.
 */
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundle } from '../test/runtimes/bundle.mjs'
import { ensureChromium, openPage } from '../test/runtimes/chromium.mjs'
import { execute } from '../test/runtimes/execute.mjs'
import { startHosts } from '../test/runtimes/hosts.mjs'
import { scenarios, timing } from '../test/runtimes/scenarios.mjs'
import { run } from './command.mjs'
import { root } from './pnpm.mjs'

const folder = join(root, 'test/runtimes')
const programs = [
  ...['page.mjs', 'worker.mjs', 'play-in-browser.mjs'],
  ...['program.mjs', 'play.mjs', 'scenarios.mjs', 'suite.mjs'],
]
const mostTries = 5
const npmSettings = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']

/** A user's project: the packages from their tarballs and the programs, and nothing else. */
const project = mkdtempSync(join(tmpdir(), 'hostpace-runtimes-'))
process.on('exit', () => rmSync(project, { recursive: true, force: true }))

installRuntimes()
makeProject()
const { page, failure } = await bundle(project)
const hosts = await startHosts(page ?? {})
const rows = [
  { name: 'bundle for browsers', version: '', cells: [told('bundle', { 'no import remains': failure })] },
  await rowOf('Node', process.execPath, [], []),
  await rowOf('Bun', installed('@oven'), ['--no-install'], ['--no-install']),
  // It may reach these hosts and nothing else; the suite starts servers of its own.
  await rowOf('Deno', installed('@deno'), ['run', '--no-prompt', '--allow-net=127.0.0.1'], ['run', '-A']),
  await chromiumRow('Chromium', ''),
  await chromiumRow('Chromium, worker', ';worker'),
]
hosts.close()

console.log('\n| runtime | version | program | adapter suite |\n| --- | --- | ---: | ---: |')
for (const { name, version, cells } of rows) {
  console.log(`| ${name} | ${version} | ${cells[0]?.text ?? ''} | ${cells[1]?.text ?? ''} |`)
}
const failures = rows.flatMap(({ cells }) => cells.flatMap(({ failed }) => failed))
for (const failed of failures) console.error(failed)
process.exitCode = failures.length > 0 ? 1 : 0

function installRuntimes() {
  if (existsSync(join(folder, 'node_modules/.package-lock.json'))) {
    const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    if (Object.entries(dependencies).every(([name, version]) => installedVersion(name) === version)) return
  }
  console.log('runtimes: installing Bun and Deno')
  run(['npm', 'ci', '--prefix', folder, ...npmSettings])
}

function installedVersion(name) {
  const manifest = join(folder, 'node_modules', name, 'package.json')
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined
}

function makeProject() {
  writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }')
  const printed = execFileSync(process.execPath, [join(root, '.ci/pack.mjs'), project], { maxBuffer: 2 ** 26 })
  const tarballs = JSON.parse(printed)
    .filter(({ name }) => ['@hostpace/core', '@hostpace/fetch', '@hostpace/robots'].includes(name))
    .map(({ filename }) => filename)
  run(['npm', 'install', '--prefix', project, '--prefer-offline', ...npmSettings, ...tarballs], { quiet: true })
  for (const program of programs) cpSync(join(folder, program), join(project, program))
  cpSync(join(root, 'packages/fetch/test/driver.ts'), join(project, 'driver.ts'))
  // The driver names it, for what only Node's fetch can do.
  symlinkSync(realpathSync(join(root, 'node_modules/undici')), join(project, 'node_modules/undici'))
}

/** The program in the package for this platform, which npm has chosen; the scripts of Bun and Deno would only copy it. */
function installed(scope) {
  const place = join(folder, 'node_modules', scope)
  const [name] = existsSync(place) ? readdirSync(place) : []
  return ['bin/bun', 'deno'].map((path) => join(place, name ?? '', path)).find((path) => existsSync(path))
}

function versionOf(executable) {
  return /\d+(\.\d+)+/.exec(
    execFileSync(executable, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  )?.[0]
}

async function rowOf(name, executable, programArgs, suiteArgs) {
  if (executable === undefined) {
    console.log(`runtimes: ${name} is not made for this platform; going on without it`)
    return { name, version: 'not for this platform', cells: [] }
  }
  const { a, b } = hosts.origins
  const start = async (wanted) => {
    const { failure, printed } = await execute(executable, [...programArgs, 'program.mjs', a, b, wanted], project)
    return failure ? { failure } : { found: JSON.parse(printed) }
  }
  const cells = [told(name, await problemsOf(name, start, false))]
  // On Node it is among the tests.
  if (name !== 'Node') {
    const { failure, printed } = await execute(executable, [...suiteArgs, 'suite.mjs'], project)
    cells.push(told(`${name}, adapter suite`, failure ? { start: failure } : JSON.parse(printed)))
  }
  return { name, version: versionOf(executable), cells }
}

async function chromiumRow(name, where) {
  const executable = page && ensureChromium()
  if (executable === undefined) return { name, version: 'not run', cells: [] }
  const { a, b } = hosts.origins
  const start = async (wanted) => {
    const { failure, printed } = await openPage(executable, `${a}/page#${b};${wanted}${where}`, project)
    const found = /<output>([^<]+)<\/output>/.exec(printed)?.[1]
    if (failure || found === undefined) return { failure: failure || `the page says nothing: ${printed}` }
    return { found: JSON.parse(decodeURIComponent(found)) }
  }
  return { name, version: versionOf(executable), cells: [told(name, await problemsOf(name, start, true))] }
}

/**
 * Has the scenarios played, and compares what the program found with what the hosts wrote down. A scenario in which only
 * the time was not as it should be is played again, since this machine may have held one request up; a pace that is
 * wrong is wrong each time.
 *
 * @returns by the name of a scenario what was wrong, or `''`
 */
async function problemsOf(name, start, isBrowser) {
  const problems = {}
  let wanted = [...scenarios.keys()].filter((index) => !isBrowser || scenarios[index].isForBrowsers !== false)
  for (let tries = 0; tries < mostTries && wanted.length > 0; tries++) {
    if (tries > 0) console.log(`runtimes: ${name}: once more: ${wanted.map(nameAndProblem).join('; ')}`)
    const { failure, found } = await start(wanted.join(','))
    const hits = hosts.take()
    if (failure || found.start) return { start: failure || found.start }
    for (const index of wanted) problems[scenarios[index].name] = found[index] ?? 'it was not played'
    for (const index of wanted) problems[scenarios[index].name] ||= verified(index, hits, isBrowser)
    wanted = wanted.filter((index) => problems[scenarios[index].name].includes(timing))
  }
  return problems

  function nameAndProblem(index) {
    return `${scenarios[index].name} (${problems[scenarios[index].name].split('\n')[0]})`
  }
}

function verified(index, hits, isBrowser) {
  try {
    scenarios[index].verify({
      hits: hits.filter(({ scenario }) => [String(index), scenarios[index].alsoSees].includes(scenario)),
      isBrowser,
    })
    return ''
  } catch (error) {
    return `the hosts saw ${error.message}`
  }
}

/** @param problems by the name of a check what was wrong, or `''` */
function told(where, problems) {
  const all = Object.entries(problems)
  const failed = all.filter(([, problem]) => problem !== '').map(([name, problem]) => `${where}: ${name}\n  ${problem}`)
  const text = failed.length > 0 ? `${failed.length} failed` : `${all.length} of ${all.length}`
  console.log(`runtimes: ${where}: ${text}`)
  return { text, failed }
}
