import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { ServerLog, ServerPlan, ServerReady } from './server-log.ts'

export interface ChaosServer {
  readonly urls: ServerReady['urls']
  /** Ends it. Resolves with what it has seen. */
  stop(): Promise<ServerLog>
}

/** Starts the server in a process of its own: a busy client cannot blur its stamps. */
export async function startServer(plan: ServerPlan): Promise<ChaosServer> {
  const child = fork(fileURLToPath(new URL('./chaos-server.ts', import.meta.url)), { serialization: 'advanced' })
  const exited = once(child, 'exit').then(() => {
    throw new Error('The server has ended before it was told to')
  })
  exited.catch(() => {})
  const answer = async <T>(): Promise<T> => (await Promise.race([once(child, 'message'), exited]))[0]
  child.send(plan)
  const { urls } = await answer<ServerReady>()
  return {
    urls,
    async stop() {
      child.send('stop')
      const log = await answer<ServerLog>()
      child.disconnect()
      await exited.catch(() => {})
      return log
    },
  }
}
