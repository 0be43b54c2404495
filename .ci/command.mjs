import { spawnSync } from 'node:child_process'
import { root } from './pnpm.mjs'

/** Runs a command at the top of the repository and shows what it prints. A failure ends this process. */
export function run([name, ...args], { quiet = false } = {}) {
  const result = spawnSync(name, args, { cwd: root, stdio: quiet ? 'pipe' : 'inherit', encoding: 'utf8' })
  if (result.status === 0) return
  if (quiet) process.stderr.write(`${result.stdout ?? ''}${result.stderr ?? ''}`)
  console.error(`failed: ${[name, ...args].join(' ')}${result.error ? ` (${result.error.message})` : ''}`)
  process.exit(result.status ?? 1)
}
