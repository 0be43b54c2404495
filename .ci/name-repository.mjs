/**
 * Writes into each package which repository it is built in, as npm asks of packages with provenance. Only the workflow
 * that publishes knows; it is not committed, so that a fork need change nothing.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './pnpm.mjs'

const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env
if (!server || !name) {
  console.error('GITHUB_SERVER_URL and GITHUB_REPOSITORY must say where this is built')
  process.exit(2)
}
for (const folder of readdirSync(join(root, 'packages'))) {
  const path = join(root, 'packages', folder, 'package.json')
  const repository = { type: 'git', url: `git+${server}/${name}.git`, directory: `packages/${folder}` }
  writeFileSync(path, `${JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), repository }, null, 2)}\n`)
}
