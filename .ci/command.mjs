import { spawnSync } from 'node:child_process'
import { root } from './pnpm.mjs'

/**
 * Runs a command at the top of the repository and shows what it prints, or with `quiet` only what a failed one printed.
 * A failure ends this process, and so does a command that takes longer than `timeoutMs` (default: no limit).
 */
export function run([name, ...args], { quiet = false, timeoutMs } = {}) {
  const output = quiet ? 'pipe' : 'inherit'
  const result = spawnSync(name, args, {
    cwd: root,
    stdio: ['ignore', output, output],
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    timeout: timeoutMs,
  })
  if (result.status === 0) return
  if (quiet) process.stderr.write(`${result.stdout ?? ''}${result.stderr ?? ''}`)
  console.error(`failed: ${[name, ...args].join(' ')}${result.error ? ` (${result.error.message})` : ''}`)
  process.exit(result.status ?? 1)
}
