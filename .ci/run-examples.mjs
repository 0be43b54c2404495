/** Runs every example at the top of `examples/`; each starts what it needs, and ends by itself with exit code 0. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './command.mjs'
import { root } from './pnpm.mjs'

/** Modules that the examples share. */
const modules = new Set(['frontier.ts', 'crawler.ts', 'links.ts', 'local-server.ts'])

for (const file of readdirSync(join(root, 'examples')).sort()) {
  if (!file.endsWith('.ts') || modules.has(file)) continue
  console.log(`examples/${file}`)
  run([join(root, 'node_modules/.bin/tsx'), join(root, 'examples', file)])
}
