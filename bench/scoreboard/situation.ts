import type { Client, Limits, Need } from './peer.ts'

/** A request as the host saw it. */
export interface Visit {
  /** Which of the situation's hosts, counted from 0. */
  readonly host: number
  readonly path: string
  readonly atMs: number
  readonly status: number
}

/** What a host answers; `{}` is a 200. */
export interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** One host of a situation. */
export interface Host {
  readonly limits: Limits
  /** @default always a 200 */
  answer?(request: { readonly path: string; readonly atMs: number; readonly origins: readonly string[] }): Answer
}

/** What came of it, as the hosts saw it. */
export interface Outcome {
  /** In the order in which they came. */
  readonly visits: readonly Visit[]
  /** When the last process ended, on the clock of the visits. */
  readonly endedMs: number
}

/** What the outcome says of the limiter. */
export interface Verdict {
  readonly passed: boolean
  /** The figure that decided, as short as it can be. */
  readonly seen: string
}

/** A program that sends requests, hosts that watch it, and a rule that says what they must see. */
export interface Situation {
  readonly name: string
  /** What must be seen: the rule that `judge` goes by, in words. */
  readonly rule: string
  /** What a limiter has to have for it. */
  readonly needs?: Need
  /** Whether the client repeats what was refused. @default false */
  readonly retries?: boolean
  /** Whether the client has its cache. @default false */
  readonly caches?: boolean
  /** How many processes run at once, and then again: `[4]` are four, `[1, 1]` one after the other. @default [1] */
  readonly processes?: readonly number[]
  /** Whether the program ends when nothing is left to do, rather than when its requests are done. @default false */
  readonly endsByItself?: boolean
  /** Whether the peers play it one after the other, since together they would keep the machine busy. @default false */
  readonly alone?: boolean
  /** Makes the hosts; they may remember who came. */
  hosts(): readonly Host[]
  /** The program. `round` says which of the runs in `processes` it belongs to. */
  play(client: Client, origins: readonly string[], round: number): Promise<unknown>
  judge(outcome: Outcome): Verdict
}

/** How much closer two requests may seem to the host than they left: machines hold things up. */
export const graceMs = 15

/** Has the client get all the paths of a host, all at once, and waits until all have ended in some way. */
export function getAll(client: Client, origin: string | undefined, paths: readonly string[]): Promise<unknown> {
  return Promise.allSettled(paths.map((path) => client.get(`${origin}${path}`)))
}

/** `/1` to `/count`. */
export function links(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `/${index + 1}`)
}

/** The shortest time between two visits, in milliseconds. */
function shortestGapMs(visits: readonly Visit[]): number {
  return Math.min(...visits.slice(1).map(({ atMs }, index) => atMs - (visits[index] as Visit).atMs))
}

/** Passes if all came, none sooner than `intervalMs` after another. */
export function keptApart(visits: readonly Visit[], count: number, intervalMs: number): Verdict {
  const gapMs = shortestGapMs(visits)
  const missing = count - visits.length
  return {
    passed: missing === 0 && gapMs >= intervalMs - graceMs,
    seen: missing === 0 ? `${Math.round(gapMs)} ms` : `${missing} missing`,
  }
}
