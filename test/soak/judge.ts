import { type Policy, parseRate, type Quota } from '@hostpace/core'
import type { Arrival } from './server-log.ts'

/** What a log says of one rule. */
export interface Finding {
  readonly rule: string
  /** The worst that the server saw, and what it may see. */
  readonly worst: number
  readonly allowed: number
  readonly unit: string
  readonly isKept: boolean
}

/** A time in which the pacer knew that a host wants none, in milliseconds of `machineMs`. */
export interface Hold {
  readonly fromMs: number
  readonly toMs: number
}

/** A request that the server saw, with what the client's side knows of it; in milliseconds of `machineMs`. */
export interface Visit extends Arrival {
  /**
   * When it was written, as node:http and undici tell, whatever the pacer says of it; or, where `fetch` sends it, when
   * that was called. The stamp of the server is later by what the way took, which the pacer can do nothing about.
   */
  readonly writtenMs: number
  /** When it may have been let go at the earliest. */
  readonly letGoMs: number
  /** Whether the client may have been done with it before the server knew. */
  readonly isGivenUp: boolean
}

/** How far times may be off, in milliseconds. */
export interface Tolerance {
  /** For reading clocks. */
  readonly clockMs: number
  /** For what takes some turns of a busy process: to write what was let go, and to learn that a connection is gone. */
  readonly turnsMs: number
}

/**
 * Holds what arrived against a policy. A request counts in a span of time only if it was both written and stamped in it.
 *
 * @param visits in the order in which they were written
 */
export function judge(
  visits: readonly Visit[],
  policy: Policy,
  holds: readonly Hold[],
  tolerance: Tolerance,
): Finding[] {
  const { intervalMs, rate, capacity, quotas = [], concurrency } = policy
  const findings: Finding[] = []
  if (intervalMs !== undefined) findings.push(interval(visits, intervalMs, tolerance))
  if (rate !== undefined) {
    const perMs = parseRate(rate) / 1000
    findings.push(bucket(visits, perMs, capacity ?? Math.max(1, perMs * 1000), tolerance))
  }
  for (const each of quotas) findings.push(quota(visits, each, tolerance))
  if (concurrency !== undefined) findings.push(inFlight(visits, concurrency, tolerance))
  return [...findings, duringHolds(visits, holds, tolerance)]
}

/** The smallest gap. A request of cost `n` takes `n` intervals, all but one of which are left out here. */
function interval(visits: readonly Visit[], intervalMs: number, { clockMs }: Tolerance): Finding {
  let worst = Number.POSITIVE_INFINITY
  for (const [index, before] of visits.slice(0, -1).entries()) {
    const gapMs = (visits[index + 1] as Visit).atMs - before.writtenMs
    worst = Math.min(worst, gapMs - (before.cost - 1) * intervalMs)
  }
  return finding('smallest gap', worst, intervalMs, 'ms', worst >= intervalMs - clockMs)
}

/**
 * The fullest that a bucket would have been into which each request pours its cost and that leaks at the rate: the worst
 * excess over `rate * t` of all spans of time, wherever they begin and end.
 */
function bucket(visits: readonly Visit[], perMs: number, capacity: number, { clockMs }: Tolerance): Finding {
  let worst = 0
  for (const [index, first] of visits.entries()) {
    let poured = 0
    let endMs = first.atMs
    for (let at = index; at < visits.length; at++) {
      const { cost, atMs } = visits[at] as Visit
      poured += cost
      endMs = Math.max(endMs, atMs)
      const level = poured - (endMs - first.writtenMs) * perMs
      worst = Math.max(worst, level)
      // From here on a span that begins later is worse.
      if (level < 0) break
    }
  }
  return finding('bucket level', worst, capacity, 'requests', worst <= capacity + clockMs * perMs)
}

/** The most requests in a window. A worst one begins with a request. */
function quota(visits: readonly Visit[], { limit, windowMs }: Quota, { clockMs }: Tolerance): Finding {
  let worst = 0
  for (const [index, first] of visits.entries()) {
    const endMs = first.writtenMs + windowMs - clockMs
    let sum = 0
    for (let at = index; at < visits.length; at++) {
      const { cost, writtenMs, atMs } = visits[at] as Visit
      if (writtenMs >= endMs) break
      if (atMs < endMs) sum += cost
    }
    worst = Math.max(worst, sum)
  }
  return finding(`in ${windowMs} ms`, worst, limit, 'requests', worst <= limit)
}

/** The most requests that were open at once. The client knows some turns before the server does that it has given one up. */
function inFlight(visits: readonly Visit[], limit: number, { turnsMs }: Tolerance): Finding {
  const changes = visits.flatMap(({ atMs, endMs, isGivenUp }) => [
    { atMs, change: 1 },
    { atMs: isGivenUp ? Math.max(atMs, endMs - turnsMs) : endMs, change: -1 },
  ])
  let open = 0
  let worst = 0
  for (const { change } of changes.sort((a, b) => a.atMs - b.atMs || a.change - b.change)) {
    open += change
    worst = Math.max(worst, open)
  }
  return finding('in flight', worst, limit, 'requests', worst <= limit)
}

/** Requests that were let go while the host was held. One that was let go right before may be written in the hold. */
function duringHolds(visits: readonly Visit[], holds: readonly Hold[], { clockMs, turnsMs }: Tolerance): Finding {
  const early = visits.filter(({ atMs, letGoMs }) =>
    holds.some(({ fromMs, toMs }) => letGoMs > fromMs + turnsMs && atMs < toMs - clockMs),
  )
  return finding('while held', early.length, 0, 'requests', early.length === 0)
}

function finding(rule: string, worst: number, allowed: number, unit: string, isKept: boolean): Finding {
  return { rule, worst: Math.round(worst * 10) / 10, allowed, unit, isKept }
}
