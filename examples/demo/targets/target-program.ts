import { setPriority } from 'node:os'
import { startNginx } from './nginx.ts'
import { startNodeServers } from './node-server.ts'
import type { RunningTargets, TargetPlan } from './target.ts'

/*
 * The program of the process that serves the targets. It is sent a plan, answers 'ready' or what
 * went wrong, and stops all that it started when its parent disconnects or is gone, for whatever reason.
 */

// Ctrl-C reaches every process of a terminal. The parent decides what it means.
process.on('SIGINT', () => {})

// Where that is allowed the targets come first, so that what else the machine does does not make their stamps late.
try {
  setPriority(-10)
} catch {}

process.once('message', async ({ targets, nginx }: TargetPlan) => {
  const running: RunningTargets[] = []
  process.once('disconnect', () => Promise.all(running.map((group) => group.stop())))
  try {
    const byNode = targets.filter(({ portBehind }) => nginx === undefined || portBehind !== undefined)
    running.push(await startNodeServers(byNode))
    if (nginx !== undefined) running.push(await startNginx(nginx.program, targets, nginx.folder))
    process.send?.('ready')
  } catch (error) {
    process.send?.(String(error))
    process.disconnect()
  }
})
