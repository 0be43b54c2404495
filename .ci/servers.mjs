/**
 * Runs the tests of @hostpace/redis on several servers, the oldest and the newest that Debian has of Redis and Valkey: `npm
 * run test:servers`, or `npm run test:servers -- valkey-9` for those whose names are given. Packages of other releases are
 * unpacked into a folder, with libraries of their own; nothing is installed. Prints one row per server. Needs Debian.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { root } from './pnpm.mjs'
import { resultIn } from './test-report.mjs'

/** The Debian release that has it, and the package. */
const servers = {
  'redis-6': { release: 'bullseye', name: 'redis-server' },
  'redis-7': { release: 'bookworm', name: 'redis-server' },
  'redis-8': { release: 'trixie', name: 'redis-server' },
  'valkey-8': { release: 'trixie', name: 'valkey-server' },
  'valkey-9': { release: 'sid', name: 'valkey-server' },
}
const cache = join(root, 'node_modules/.cache/hostpace-servers')
const limitMs = 600_000

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !(name in servers))
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(', ')}; known are ${Object.keys(servers).join(', ')}`)
  process.exit(2)
}

const mirror = mirrorOf()
if (mirror === undefined) {
  console.log('servers: they come as packages of Debian, whose lists are not here (on Debian: apt-get update)')
  process.exit(0)
}
const rows = Object.keys(servers)
  .filter((name) => asked.length === 0 || asked.includes(name))
  .map(rowOf)
console.log('\n| server | version | tests |\n| --- | --- | ---: |')
for (const { name, version, text } of rows) console.log(`| ${name} | ${version} | ${text} |`)
const failures = rows.flatMap(({ failed }) => failed)
for (const failure of failures) console.error(failure)
process.exitCode = failures.length > 0 ? 1 : 0

/** Where this machine gets Debian's packages from. */
function mirrorOf() {
  const targets = ['indextargets', '--format', '$(REPO_URI)', 'Identifier: Packages', 'Origin: Debian', 'Label: Debian']
  const { status, stdout } = spawnSync('apt-get', targets, { encoding: 'utf8' })
  return status === 0 && stdout !== '' ? stdout.split('\n')[0] : undefined
}

function rowOf(name) {
  const folder = join(cache, name)
  const bin = join(folder, 'bin')
  const problem = existsSync(bin) ? undefined : fetchServer(name, folder, bin)
  if (problem !== undefined) return told(name, '', 'cannot be had', [`${name}: ${problem}`])
  const { stdout = '' } = spawnSync(join(bin, 'redis-server'), ['--version'], { encoding: 'utf8' })
  const version = /v=(\S+)/.exec(stdout)?.[1] ?? ''
  if (version === '') return told(name, '', 'does not start', [`${name}: it does not start`])
  return runTests(name, version, bin)
}

/** Unpacks a server and all that it needs, and writes a program that starts it. @returns what went wrong */
function fetchServer(name, folder, bin) {
  console.log(`servers: fetching ${name}`)
  const { release, name: packageName } = servers[name]
  const files = join(folder, 'files')
  rmSync(folder, { recursive: true, force: true })
  for (const path of ['lists/partial', 'cache/archives/partial', 'no-parts', 'files'])
    mkdirSync(join(folder, path), { recursive: true })
  writeFileSync(join(folder, 'sources.list'), `deb ${mirror} ${release} main\n`)
  // By this nothing is installed, so that all of it comes along, down to the C library.
  writeFileSync(join(folder, 'status'), '')
  const install = ['install', '--download-only', '-y', '--no-install-recommends', packageName]
  for (const step of [['update'], install]) {
    const problem = problemOf('apt-get', ['-qq', ...aptOptions(folder), ...step])
    if (problem !== undefined) return problem
  }
  const archives = join(folder, 'cache/archives')
  for (const file of readdirSync(archives).filter((path) => path.endsWith('.deb'))) {
    const problem = problemOf('dpkg-deb', ['-x', join(archives, file), files])
    if (problem !== undefined) return problem
  }
  const starter = starterOf(files, packageName)
  if (starter === undefined) return 'there is no dynamic linker among what it needs'
  for (const path of ['lists', 'cache']) rmSync(join(folder, path), { recursive: true })
  mkdirSync(bin)
  writeFileSync(join(bin, 'redis-server'), starter, { mode: 0o755 })
}

/** All that apt-get reads and writes, so that the machine's own packages have no part in it. */
function aptOptions(folder) {
  const settings = {
    'Dir::Etc::sourcelist': join(folder, 'sources.list'),
    'Dir::Etc::sourceparts': join(folder, 'no-parts'),
    'Dir::Etc::preferences': '/dev/null',
    'Dir::Etc::preferencesparts': join(folder, 'no-parts'),
    'Dir::State': folder,
    'Dir::State::lists': join(folder, 'lists'),
    'Dir::State::status': join(folder, 'status'),
    'Dir::Cache': join(folder, 'cache'),
    'APT::Sandbox::User': '',
    'Acquire::Retries': '1',
  }
  return Object.entries(settings).flatMap(([key, value]) => ['-o', `${key}=${value}`])
}

/** A shell script that is the server: it has the signals and the number of the process to itself. */
function starterOf(files, packageName) {
  const libraries = ['lib', 'usr/lib']
    .map((path) => join(files, path))
    .filter((path) => existsSync(path))
    .flatMap((path) => readdirSync(path).flatMap((name) => (name.endsWith('-linux-gnu') ? [join(path, name)] : [])))
  const linker = libraries
    .flatMap((path) => readdirSync(path).map((name) => join(path, name)))
    .find((path) => /\/ld-linux[^/]*\.so\.\d+$/.test(path))
  if (linker === undefined) return undefined
  // Redis 6 of Debian loads the libraries of its Lua by name.
  const lua = libraries.map((path) => join(path, 'lua/5.1/?.so')).join(';')
  const program = join(files, 'usr/bin', packageName)
  return `#!/bin/sh\nLUA_CPATH='${lua}' exec '${linker}' --library-path '${libraries.join(':')}' '${program}' "$@"\n`
}

function runTests(name, version, bin) {
  const report = join(root, `reports/servers-${name}.json`)
  rmSync(report, { force: true })
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const args = [vitest, 'run', '--config', 'vitest.matrix.config.ts', 'packages/redis']
  const path = `${bin}${delimiter}${process.env.PATH}`
  const env = { ...process.env, PATH: path, HOSTPACE_CLIENT: 'none=none', HOSTPACE_REPORT: report }
  delete env.REDIS_URL
  const problem = problemOf(process.execPath, args, env)
  const { text, failed } = resultIn(report, name, problem)
  return told(name, version, text, failed)
}

/** Runs a program to its end. @returns what it printed, if it failed */
function problemOf(program, args, env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: root,
    env,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    timeout: limitMs,
  })
  return status === 0 ? undefined : `${program}: ${error?.message ?? ''}${stdout ?? ''}${stderr ?? ''}`
}

function told(name, version, text, failed) {
  console.log(`servers: ${name} ${version}: ${text}`)
  return { name, version, text, failed }
}
