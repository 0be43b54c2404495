import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { TargetPlan, TargetProcess } from './target.ts'

/** Serves targets from a process of their own, so that a busy crawler cannot blur their stamps. */
export async function startTargetProcess(plan: TargetPlan): Promise<TargetProcess> {
  const child = fork(fileURLToPath(new URL('./target-program.ts', import.meta.url)), { stdio: 'inherit' })
  const exited = once(child, 'exit')
  const answer = async () => (await Promise.race([once(child, 'message'), exited]))[0]
  child.send(plan)
  const message = await answer()
  if (message !== 'ready') {
    await exited
    throw new Error(`The targets did not start: ${message}`)
  }
  return {
    async stop() {
      if (child.connected) child.send('stop')
      const stalls = await answer()
      if (child.connected) child.disconnect()
      await exited
      return Array.isArray(stalls) ? stalls : []
    },
  }
}
