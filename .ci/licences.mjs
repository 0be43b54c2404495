/**
 * Holds what a user installs with our packages to permissive licences, and docs/licences.md to what is installed.
 * `node .ci/licences.mjs --write` writes the page anew. Peer dependencies are what the user has already.
 */
import { existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './pnpm.mjs'

const permissive = ['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'CC0-1.0', 'ISC', 'MIT']
const page = join(root, 'docs/licences.md')

/** By the name of a dependency: its licence, where it is, and which of our packages bring it along. */
const found = new Map()
for (const name of readdirSync(join(root, 'packages')).sort()) {
  const folder = join(root, 'packages', name)
  if (!existsSync(join(folder, 'package.json'))) continue
  const { private: isPrivate, name: ours } = manifest(folder)
  if (!isPrivate) collect(folder, ours, new Set())
}

for (const [name, { licence, folder }] of found) {
  if (!isPermissive(licence)) complain(`${name} has the licence ${JSON.stringify(licence)}`)
  if (!readdirSync(folder).some((file) => /^(licen[cs]e|copying)/i.test(file))) {
    console.log(`${name} brings no licence text along`)
  }
}
const text = written()
if (process.argv.includes('--write')) writeFileSync(page, text)
else if (!existsSync(page) || readFileSync(page, 'utf8') !== text) {
  complain('docs/licences.md is not up to date; run: node .ci/licences.mjs --write')
}
console.log(`${found.size} dependencies, all of permissive licences`)

function collect(folder, ours, seen) {
  const { dependencies = {}, optionalDependencies = {} } = manifest(folder)
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const place = installed(folder, name)
    if (place === undefined) {
      // What is optional may not be for this platform.
      if (name in optionalDependencies) continue
      complain(`${name}, which ${ours} needs, is not installed`)
    }
    // Our packages are looked at each by itself.
    if (seen.has(place) || place.startsWith(join(root, 'packages'))) continue
    seen.add(place)
    const { license: licence } = manifest(place)
    const entry = found.get(name) ?? { licence, folder: place, users: new Set() }
    entry.users.add(ours)
    found.set(name, entry)
    collect(place, ours, seen)
  }
}

/** Where a package finds a dependency: in its own `node_modules` or, as Node looks for it, in one further up. */
function installed(folder, name) {
  for (let above = folder; above !== dirname(above); above = dirname(above)) {
    const place = join(above, 'node_modules', name)
    if (existsSync(place)) return realpathSync(place)
  }
}

function manifest(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

/** An SPDX expression; of a choice one that is permissive is enough. */
function isPermissive(licence) {
  if (typeof licence !== 'string') return false
  const choices = licence.replace(/^\((.*)\)$/, '$1').split(' OR ')
  return choices.some((choice) => permissive.includes(choice))
}

function written() {
  const rows = [...found].sort(([one], [other]) => (one < other ? -1 : 1))
  const lines = rows.map(([name, { licence, users }]) => `| \`${name}\` | ${licence} | ${[...users].join(', ')} |`)
  return `# Licences

hostpace is MIT. This is all that its packages bring along, and under which licence; what you have already (got, axios,
undici, a driver of a database) is left out. \`npm run packages\` checks it, \`node .ci/licences.mjs --write\` writes it.

| package | licence | comes with |
| --- | --- | --- |
${lines.join('\n')}
`
}

function complain(what) {
  console.error(`failed: ${what}`)
  process.exit(1)
}
