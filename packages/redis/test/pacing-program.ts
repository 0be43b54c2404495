/*
 * The program of a process of its own: it paces by a server, sends what it is told to, and says when each left.
 */
import { createPacer, type Permit } from '@hostpace/core'
import { Redis } from 'ioredis'
import { redisStore } from '../src/index.ts'
import { host } from './pacing.ts'
import type { ProgramNews, ProgramOrder, ProgramPlan } from './start-program.ts'

const { url, policy, options } = JSON.parse(process.argv[2] as string) as ProgramPlan
const client = new Redis(url)
const pacer = createPacer({ ...policy, adapt: false, store: redisStore({ client, ...options }) })
const held: Permit[] = []

process.once('disconnect', () => process.exit())
process.on('message', async ({ send = 0, hold = 0, forMs = 0 }: ProgramOrder) => {
  const endMs = performance.now() + forMs
  for (let sent = 0; sent < send || performance.now() < endMs; sent++) {
    const permit = await pacer.wait(host)
    permit.sent()
    permit.done()
    tell({ kind: 'departed', atMs: Date.now() })
  }
  for (let count = 0; count < hold; count++) held.push(await pacer.wait(host))
  tell({ kind: 'done' })
})
tell({ kind: 'ready' })

function tell(news: ProgramNews): void {
  process.send?.(news)
}
