/*
 * The program of a process of its own: it paces by a store on a file, sends what it is told to, and says what happens.
 */
import { createPacer } from '@hostpace/core'
import { sqliteStore } from '../src/index.ts'
import type { ProgramNews, ProgramOrder, ProgramPlan } from './start-program.ts'

const { path, policy, options, user } = JSON.parse(process.argv[2] as string) as ProgramPlan
// After all has been loaded, which that user may not be allowed to.
if (user !== undefined) process.setuid?.(user)

const url = 'https://a.example/'
const pacer = createPacer({ ...policy, store: sqliteStore({ path, ...options }) })
pacer.on('store-error', ({ error }) => tell({ kind: 'failure', text: String((error as Error).cause ?? error) }))

process.once('disconnect', () => process.exit())
process.on('message', async ({ send = 0, pauseMs }: ProgramOrder) => {
  if (pauseMs !== undefined) pacer.pause(url, pauseMs)
  const requests = Array.from({ length: send }, () => pacer.run(url, async () => undefined))
  for (const { status, reason } of (await Promise.allSettled(requests)) as { status: string; reason?: unknown }[]) {
    tell(status === 'fulfilled' ? { kind: 'departed' } : { kind: 'rejected', text: `${reason}` })
  }
  tell({ kind: 'done' })
})
tell({ kind: 'ready' })

function tell(news: ProgramNews): void {
  process.send?.(news)
}
