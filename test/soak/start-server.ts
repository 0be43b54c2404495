import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { ServerLog, ServerOrder, ServerPlan, ServerUrls } from './server-log.ts'

export interface ChaosServer {
  readonly urls: ServerUrls
  /** How many connections are open as it sees it. */
  connections(): Promise<number>
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
  const tell = async <Answer>(order: ServerOrder): Promise<Answer> => {
    child.send(order)
    return (await Promise.race([once(child, 'message'), exited]))[0]
  }
  const urls = await tell<ServerUrls>(plan)
  return {
    urls,
    connections: () => tell<number>('connections'),
    async stop() {
      const log = await tell<ServerLog>('stop')
      child.disconnect()
      await exited.catch(() => {})
      return log
    },
  }
}
