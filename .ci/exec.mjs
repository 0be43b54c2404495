/** Runs a program of the workspace's packages, so that `npm run` finds it however npm was called. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { root } from './pnpm.mjs'

const [program, ...args] = process.argv.slice(2)
const child = spawn(join(root, 'node_modules/.bin', program), args, { cwd: root, stdio: 'inherit' })

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    // A terminal sends Ctrl-C to the child as well, and the second one would cut its tidying up short.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
  })
}
child.on('error', (error) => {
  console.error(`cannot run ${program}: ${error.message}`)
  process.exitCode = 1
})
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1)
})
