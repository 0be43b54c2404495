import type { Visit } from './judge.ts'
import type { PauseWatch } from './pauses.ts'
import type { Arrival } from './server-log.ts'
import type { Stamps } from './stamps.ts'

/** What is known of the times of requests besides what the server knows, and without asking a pacer. */
export interface Witnesses {
  /** When each was written. */
  readonly written: Stamps
  /** When `fetch` was called for those that it sends: their clients cannot tell more, so the pacer counts from there. */
  readonly called: Stamps
  /** Those that did not end with a whole answer. */
  readonly givenUp: ReadonlySet<number>
  /** When the clients' process did nothing. */
  readonly pauses: PauseWatch
}

/** The log of one origin, completed by the times of the clients and in the order of these. */
export function visitsOf(log: readonly Arrival[], { written, called, givenUp, pauses }: Witnesses): Visit[] {
  const visits = log.map((arrival): Visit => {
    const { id, atMs } = arrival
    const writtenMs = Math.min(atMs, called.lastBefore(id, atMs) ?? written.lastBefore(id, atMs) ?? atMs)
    const isGivenUp = givenUp.has(id) || !arrival.isAnswered
    return { ...arrival, writtenMs, letGoMs: Math.min(writtenMs, pauses.begunMs(writtenMs)), isGivenUp }
  })
  return visits.sort((a, b) => a.writtenMs - b.writtenMs)
}

/** How long the requests were on their way, in words. */
export function delaysOf(visits: readonly Visit[]): string {
  const sorted = visits.map(({ atMs, writtenMs }) => atMs - writtenMs).sort((a, b) => a - b)
  const at = (share: number) => `${(sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1)} ms`
  return `median ${at(0.5)}, 99 % within ${at(0.99)}, longest ${at(1)}`
}
