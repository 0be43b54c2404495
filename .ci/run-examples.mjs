/**
 * Runs every example at the top of `examples/`; each starts what it needs, and ends by itself with exit code 0. A file
 * that exports something is not an example of its own but a part of others.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './command.mjs'
import { root } from './pnpm.mjs'

const folder = join(root, 'examples')
const limitMs = 60_000

for (const file of readdirSync(folder).sort()) {
  if (!file.endsWith('.ts') || /^export /m.test(readFileSync(join(folder, file), 'utf8'))) continue
  console.log(`examples/${file}`)
  run([join(root, 'node_modules/.bin/tsx'), join(folder, file)], { timeoutMs: limitMs })
}
