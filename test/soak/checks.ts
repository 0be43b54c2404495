import { setTimeout as sleep } from 'node:timers/promises'
import type { Pacer } from '@hostpace/core'
import type { ClientGroup } from './clients/client.ts'
import type { CountingClock } from './counting-clock.ts'
import { collectGarbage } from './memory.ts'
import type { ChaosServer } from './start-server.ts'
import type { Traffic } from './traffic.ts'

/** Something that must be so. */
export interface Check {
  readonly name: string
  /** What is wrong; empty if nothing is. */
  readonly problem: string
}

export function check(name: string, isOk: boolean, problem: string): Check {
  return { name, problem: isOk ? '' : problem }
}

/** How much the heap may have grown between the first tenth and the end: what is kept for each request would be more. */
const mostGrowthMb = 8

/** How long what has just ended may take to be tidied up. */
const tidyingMs = 3000

/** Collects what nobody has caught. Listening keeps the process alive, so that the rest is checked all the same. */
export function watchFailures(): readonly string[] {
  const failures: string[] = []
  for (const name of ['unhandledRejection', 'uncaughtException'] as const) {
    process.on(name, (error: unknown) => failures.push(`${name}: ${(error as Error)?.stack ?? error}`))
  }
  return failures
}

/** What must be so once all requests have ended, and then once all clients are closed, which this does. */
export async function checkClients(
  traffic: Traffic,
  pacer: Pacer,
  clock: CountingClock,
  groups: readonly ClientGroup[],
  server: ChaosServer,
  heapsMb: readonly [atFirst: number, atEnd: number],
): Promise<Check[]> {
  const { started, settled, open, surprises, shared } = traffic
  const { queued, inFlight } = await whenIdle(
    () => pacer.stats().total,
    ({ queued, inFlight }) => queued + inFlight,
  )
  const timers = clock.timers.size
  const busy = await whenIdle(() => groups.reduce((sum, group) => sum + group.busy(), 0))
  const listeners = await whenIdle(() => shared.listeners())
  const [firstMb, endMb] = heapsMb
  const growthMb = endMb - firstMb
  await Promise.race([Promise.all(groups.map((group) => group.close())), sleep(tidyingMs, undefined, { ref: false })])
  const connections = await whenIdle(() => server.connections())
  await pacer.close()

  const stillOpen = [...open].slice(0, 10).map(([id, what]) => `${id}: ${what}`)
  return [
    check('every request has ended', started === settled && open.size === 0, `open are ${stillOpen.join('\n  ')}`),
    check('each in a way that was asked for', surprises.length === 0, surprises.join('\n  ')),
    check('nobody waits at the pacer', queued === 0, `${queued} wait`),
    check('no permit is out', inFlight === 0, `${inFlight} are`),
    check('no timer of the pacer runs', timers === 0, `${timers} do`),
    check('no connection carries a request', busy === 0, `${busy} do`),
    check(`no listener is left on ${shared.count} shared signals`, listeners === 0, `${listeners} are`),
    check('the server sees no connection after the clients are closed', connections === 0, `it sees ${connections}`),
    check(
      `the heap grew by no more than ${mostGrowthMb} MB: ${firstMb.toFixed(1)} MB after a tenth, ${endMb.toFixed(1)} MB at the end`,
      growthMb <= mostGrowthMb,
      `it grew by ${growthMb.toFixed(1)} MB`,
    ),
  ]
}

/** Asks until there is nothing left, or for as long as tidying up may take. */
async function whenIdle<T>(ask: () => T | Promise<T>, left: (answer: T) => number = Number): Promise<T> {
  const untilMs = performance.now() + tidyingMs
  let answer = await ask()
  while (left(answer) > 0 && performance.now() < untilMs) {
    await collectGarbage()
    answer = await ask()
  }
  return answer
}
