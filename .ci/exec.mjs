/** Runs a program of the workspace's packages, so that `npm run` finds it however npm was called. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { root } from './pnpm.mjs'

const [program, ...args] = process.argv.slice(2)
const child = spawn(join(root, 'node_modules/.bin', program), args, { cwd: root, stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1)
})
