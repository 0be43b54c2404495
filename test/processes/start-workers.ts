import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Policy } from '@hostpace/core'

/** The store that workers are to have. */
export type StorePlan =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'redis'; readonly url: string }

/** What a worker is started with. */
export interface WorkerPlan {
  readonly client: 'got' | 'axios' | 'undici' | 'fetch'
  readonly store: StorePlan
  readonly origin: string
  readonly policy: Policy
  /** How many requests it has under way or waiting at any time. */
  readonly ahead: number
}

export type WorkerOrder = 'go' | 'stop'

/** What a worker says when it has stopped. */
export interface WorkerReport {
  readonly client: WorkerPlan['client']
  /** How many answers of each status it got. */
  readonly statuses: Readonly<Record<number, number>>
  /** What its requests rejected with. */
  readonly errors: readonly string[]
  readonly storeErrors: readonly string[]
  /** When the first and the last answer came, on the clock of the machine. */
  readonly firstMs: number
  readonly lastMs: number
  readonly lagMs: number
}

const clients = ['got', 'axios', 'undici', 'fetch'] as const
const program = fileURLToPath(new URL('worker.ts', import.meta.url))
const mostMs = 60_000

/** Runs so many processes, which all go at once and stop after `forMs`; the clients take turns. */
export async function runWorkers(
  count: number,
  plan: Omit<WorkerPlan, 'client' | 'ahead'>,
  forMs: number,
): Promise<WorkerReport[]> {
  const children: ChildProcess[] = []
  try {
    for (let index = 0; index < count; index++) {
      const client = clients[index % clients.length] as WorkerPlan['client']
      const argument = JSON.stringify({ ...plan, client, ahead: 20 } satisfies WorkerPlan)
      children.push(fork(program, [argument], { execArgv: ['--import', import.meta.resolve('tsx')] }))
    }
    await Promise.all(children.map(told))
    const reports = Promise.all(children.map(told)) as Promise<WorkerReport[]>
    for (const child of children) child.send('go' satisfies WorkerOrder)
    await Promise.race([sleep(forMs), reports])
    for (const child of children) child.send('stop' satisfies WorkerOrder)
    return await reports
  } finally {
    for (const child of children) child.kill('SIGKILL')
  }
}

/** What a child says next. */
async function told(child: ChildProcess): Promise<unknown> {
  const over = new AbortController()
  const { signal } = over
  const ended = once(child, 'exit', { signal }).then(([code]) => Promise.reject(new Error(`a worker ended: ${code}`)))
  const silent = sleep(mostMs * 3, undefined, { signal, ref: false }).then(() =>
    Promise.reject(new Error('a worker is silent')),
  )
  const [message] = await Promise.race([once(child, 'message', { signal }), ended, silent]).finally(() => over.abort())
  return message
}
