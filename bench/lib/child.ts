import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Runs a program of this folder in a process of its own and gives the JSON that it prints. */
export function inChild<Result>(name: string, ...args: readonly (string | number)[]): Result {
  const program = fileURLToPath(new URL(`../${name}.js`, import.meta.url))
  const { status, stdout } = spawnSync(process.execPath, ['--expose-gc', program, ...args.map(String)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 26,
  })
  if (status !== 0) throw new Error(`${name} ${args.join(' ')} ended with ${status}`)
  return JSON.parse(stdout) as Result
}
