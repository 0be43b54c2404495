/*
 * The program of one of many processes that send to one host: as fast as its pacer lets it, with one client, from the
 * moment at which it is told to go until it is told to stop. Then it says what has come of it.
 */
import { createPacer, type Pacer, PacerClosedError, type Store } from '@hostpace/core'
import { machineMs } from '../soak/machine-clock.ts'
import { LagMeter } from './lag-meter.ts'
import type { StorePlan, WorkerOrder, WorkerPlan, WorkerReport } from './start-workers.ts'

type Send = (url: string) => Promise<number>

const clients: Record<WorkerPlan['client'], (pacer: Pacer) => Promise<Send>> = {
  async got(pacer) {
    const [{ pace }, { got }] = await Promise.all([import('@hostpace/got'), import('got')])
    const client = got.extend(pace(pacer), { throwHttpErrors: false, retry: { limit: 0 } })
    return async (url) => (await client(url)).statusCode
  },
  async axios(pacer) {
    const [{ pace }, { default: axios }] = await Promise.all([import('@hostpace/axios'), import('axios')])
    const client = axios.create({ validateStatus: () => true })
    pace(client, pacer)
    return async (url) => (await client.get(url)).status
  },
  async undici(pacer) {
    const [{ pace }, { Agent, request }] = await Promise.all([import('@hostpace/undici'), import('undici')])
    const dispatcher = new Agent().compose(pace(pacer))
    return async (url) => {
      const { statusCode, body } = await request(url, { dispatcher })
      await body.dump()
      return statusCode
    }
  },
  async fetch(pacer) {
    const { pace } = await import('@hostpace/fetch')
    const fetch = pace(globalThis.fetch, pacer)
    return async (url) => {
      const response = await fetch(url)
      await response.arrayBuffer()
      return response.status
    }
  },
}

const { client, store: storePlan, origin, policy, ahead } = JSON.parse(process.argv[2] as string) as WorkerPlan
const { store, end } = await openStore(storePlan)
const pacer = createPacer({ ...policy, adapt: false, store })
const send = await clients[client](pacer)
const report = { statuses: {} as Record<number, number>, errors: [] as string[], storeErrors: [] as string[] }
let isStopped = false
pacer.on('store-error', ({ error }) => report.storeErrors.push(String(error)))

process.once('disconnect', () => process.exit())
process.on('message', async (order: WorkerOrder) => {
  if (order === 'stop') {
    isStopped = true
    await pacer.close()
    return
  }
  const lag = new LagMeter()
  const spans = await Promise.all(Array.from({ length: ahead }, sendOn))
  const answersMs = spans.flat()
  await end()
  const [firstMs, lastMs] = [Math.min(...answersMs), Math.max(...answersMs)]
  process.send?.({ ...report, client, firstMs, lastMs, lagMs: lag.end() } satisfies WorkerReport)
  process.disconnect()
})
process.send?.('ready')

/** Sends one request after another. @returns when the answers came */
async function sendOn(): Promise<number[]> {
  const answersMs: number[] = []
  while (!isStopped) {
    try {
      const status = await send(`${origin}/`)
      report.statuses[status] = (report.statuses[status] ?? 0) + 1
      answersMs.push(machineMs())
    } catch (error) {
      if (!isStopped || !isOfClosing(error)) report.errors.push(String(error))
    }
  }
  return answersMs
}

/** Whether the pacer was closed while the request waited; some clients have an error of their own around that. */
function isOfClosing(error: unknown): boolean {
  return error instanceof PacerClosedError || (error as Error).cause instanceof PacerClosedError
}

async function openStore(plan: StorePlan): Promise<{ store: Store; end(): unknown }> {
  if (plan.kind === 'sqlite') {
    const { sqliteStore } = await import('@hostpace/sqlite')
    const store = sqliteStore({ path: plan.path })
    return { store, end: () => store.close() }
  }
  if (plan.kind === 'redis') {
    const [{ redisStore }, { Redis }] = await Promise.all([import('@hostpace/redis'), import('ioredis')])
    const redis = new Redis(plan.url)
    const store = redisStore({ client: redis })
    return { store, end: () => Promise.resolve(store.close()).then(() => redis.quit()) }
  }
  const { memoryStore } = await import('@hostpace/core')
  return { store: memoryStore(), end: () => {} }
}
