/**
 * Runs the benches, each in a process of its own.
 *
 * ```sh
 * npm run bench                    # all of them
 * npm run bench -- decision wait   # some
 * ```
 */
import { spawnSync } from 'node:child_process'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'

const benches = ['decision', 'wait', 'idle-hosts', 'waiters', 'accuracy', 'clients', 'redis']

const asked = process.argv.slice(2).filter((name) => name !== '--')
const unknown = asked.filter((name) => !benches.includes(name))
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(', ')}; known are ${benches.join(', ')}`)
  process.exit(2)
}
console.log(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}`)
for (const name of asked.length > 0 ? asked : benches) {
  const program = fileURLToPath(new URL(`./${name}.js`, import.meta.url))
  // A young generation that holds a whole round, so that what is allocated can be read off the heap.
  const flags = ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=128']
  const { status } = spawnSync(process.execPath, [...flags, program], { stdio: 'inherit' })
  if (status !== 0) process.exitCode = 1
}
