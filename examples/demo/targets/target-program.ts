import { setPriority } from 'node:os'
import { startNginx } from './nginx.ts'
import { startNodeServers } from './node-server.ts'
import { type Stall, watchStalls } from './stalls.ts'
import type { RunningTargets, TargetPlan } from './target.ts'

/*
 * The program of the process that serves the targets. It is sent a plan and answers 'ready' or what went
 * wrong; it is told to stop and answers when it was held up. It stops all that it started when its
 * parent disconnects or is gone, for whatever reason.
 */

const running: RunningTargets[] = []
let endWatch: () => Stall[] = () => []
process.once('disconnect', () => {
  endWatch()
  for (const group of running) void group.stop()
})

// Ctrl-C reaches every process of a terminal. The parent decides what it means.
process.on('SIGINT', () => {})

// Where that is allowed the targets come first, so that what else the machine does does not make their stamps late.
try {
  setPriority(-10)
} catch {}

process.on('message', async (message: TargetPlan | 'stop') => {
  if (message === 'stop') {
    process.send?.(endWatch())
    return
  }
  try {
    await start(message)
    endWatch = watchStalls()
    process.send?.('ready')
  } catch (error) {
    process.send?.(String(error))
    process.disconnect()
  }
})

async function start({ targets, nginx }: TargetPlan): Promise<void> {
  const byNode = targets.filter(({ portBehind }) => nginx === undefined || portBehind !== undefined)
  running.push(await startNodeServers(byNode))
  if (nginx !== undefined) running.push(await startNginx(nginx.program, targets, nginx.folder))
}
