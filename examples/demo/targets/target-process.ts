import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { RunningTargets, TargetPlan } from './target.ts'

/** Serves targets from a process of their own, so that a busy crawler cannot blur their stamps. */
export async function startTargetProcess(plan: TargetPlan): Promise<RunningTargets> {
  const child = fork(fileURLToPath(new URL('./target-program.ts', import.meta.url)), { stdio: 'inherit' })
  const exited = once(child, 'exit')
  child.send(plan)
  const [message] = await Promise.race([once(child, 'message'), exited])
  if (message !== 'ready') {
    await exited
    throw new Error(`The targets did not start: ${message}`)
  }
  return {
    async stop() {
      if (child.connected) child.disconnect()
      await exited
    },
  }
}
