import { startNginx } from './nginx.ts'
import { startNodeServers } from './node-server.ts'
import type { RunningTargets, TargetPlan } from './target.ts'

/*
 * The program of the process that serves the targets. It is sent a plan, answers 'ready' or what
 * went wrong, and stops all that it started when its parent disconnects or is gone, for whatever reason.
 */

// Ctrl-C reaches every process of a terminal. The parent decides what it means.
process.on('SIGINT', () => {})

process.once('message', async ({ node, nginx }: TargetPlan) => {
  const running: RunningTargets[] = []
  process.once('disconnect', () => Promise.all(running.map((targets) => targets.stop())))
  try {
    running.push(await startNodeServers(node))
    if (nginx !== undefined) running.push(await startNginx(nginx.program, nginx.targets, nginx.folder))
    process.send?.('ready')
  } catch (error) {
    process.send?.(String(error))
    process.disconnect()
  }
})
