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

/** A time in which the pacer knew that a host wants none, in milliseconds since 1970. */
export interface Hold {
  readonly fromMs: number
  readonly toMs: number
}

/** How far stamps may be off in milliseconds, beyond what the two processes know themselves to have been held up by. */
export interface Tolerance {
  /** From the writing of a request to its stamp, where the pacer is told when it is written. */
  readonly stampMs: number
  /** For windows, and for what the server learns late: that a connection is gone, or a request of a blind client. */
  readonly windowMs: number
}

/**
 * Holds what arrived against a policy. For windows and holds, what came when a process was held up counts from the
 * earliest moment at which it may have been let go; for gaps only the server's being late does, because an interval is
 * measured from the write.
 *
 * @param log in the order of arrival
 */
export function judge(
  log: readonly Arrival[],
  policy: Policy,
  holds: readonly Hold[],
  tolerance: Tolerance,
): Finding[] {
  const { intervalMs, rate, capacity, quotas = [], concurrency } = policy
  const findings: Finding[] = []
  if (intervalMs !== undefined) findings.push(interval(log, intervalMs, tolerance))
  if (rate !== undefined) {
    const perMs = parseRate(rate) / 1000
    findings.push(bucket(log, perMs, capacity ?? Math.max(1, perMs * 1000), tolerance))
  }
  for (const each of quotas) findings.push(quota(log, each, tolerance))
  if (concurrency !== undefined) findings.push(inFlight(log, concurrency, tolerance))
  return [...findings, duringHolds(log, holds, tolerance)]
}

/** The smallest gap. A request of cost `n` takes `n` intervals, all but one of which are left out here. */
function interval(log: readonly Arrival[], intervalMs: number, { stampMs }: Tolerance): Finding {
  let worst = Number.POSITIVE_INFINITY
  for (const [index, before] of log.slice(0, -1).entries()) {
    const gapMs = (log[index + 1] as Arrival).atMs - before.atMs + before.lateMs
    worst = Math.min(worst, gapMs - (before.cost - 1) * intervalMs)
  }
  return finding('smallest gap', worst, intervalMs, 'ms', worst >= intervalMs - stampMs)
}

/**
 * The fullest that a bucket would have been into which each request pours its cost and that leaks at the rate: the same
 * as the worst excess over `rate * t` of all windows, wherever they begin and end.
 */
function bucket(log: readonly Arrival[], perMs: number, capacity: number, { windowMs }: Tolerance): Finding {
  let level = 0
  let worst = 0
  let lastMs = 0
  for (const arrival of log) {
    const leaked = level - (arrival.atMs - lastMs) * perMs
    // The worst window may begin with this one.
    level = Math.max(leaked, (earliestMs(arrival) - arrival.atMs) * perMs) + arrival.cost
    lastMs = arrival.atMs
    worst = Math.max(worst, level)
  }
  return finding('bucket level', worst, capacity, 'requests', worst <= capacity + windowMs * perMs)
}

/** The most requests in a window, which is shorter than declared by the tolerance. A worst one begins with a request. */
function quota(log: readonly Arrival[], { limit, windowMs }: Quota, tolerance: Tolerance): Finding {
  let worst = 0
  for (const [index, first] of log.entries()) {
    const endMs = earliestMs(first) + windowMs - tolerance.windowMs
    let sum = 0
    for (let at = index; at < log.length && (log[at] as Arrival).atMs < endMs; at++) sum += (log[at] as Arrival).cost
    worst = Math.max(worst, sum)
  }
  return finding(`in ${windowMs} ms`, worst, limit, 'requests', worst <= limit)
}

/** The most requests that were open at once. A client knows before the server does that it has given one up. */
function inFlight(log: readonly Arrival[], limit: number, { windowMs }: Tolerance): Finding {
  const changes = log.flatMap(({ atMs, endMs }) => [
    { atMs, change: 1 },
    { atMs: Math.max(atMs, endMs - windowMs), change: -1 },
  ])
  let open = 0
  let worst = 0
  for (const { change } of changes.sort((a, b) => a.atMs - b.atMs || a.change - b.change)) {
    open += change
    worst = Math.max(worst, open)
  }
  return finding('in flight', worst, limit, 'requests', worst <= limit)
}

/** Requests that came while the host was held. One that was let go before may still have been on its way. */
function duringHolds(log: readonly Arrival[], holds: readonly Hold[], { stampMs, windowMs }: Tolerance): Finding {
  let count = 0
  let at = 0
  for (const { fromMs, toMs } of [...holds].sort((a, b) => a.fromMs - b.fromMs)) {
    while (at < log.length && (log[at] as Arrival).atMs < fromMs + windowMs) at++
    for (let next = at; next < log.length; next++) {
      const arrival = log[next] as Arrival
      if (arrival.atMs >= toMs - stampMs) break
      if (earliestMs(arrival) > fromMs + windowMs) count++
    }
  }
  return finding('while held', count, 0, 'requests', count === 0)
}

/** The earliest moment at which a request may have been let go that came at this one. */
function earliestMs({ atMs, lateMs, heldUpMs }: Arrival): number {
  return atMs - Math.max(lateMs, heldUpMs)
}

function finding(rule: string, worst: number, allowed: number, unit: string, isKept: boolean): Finding {
  return { rule, worst: Math.round(worst * 10) / 10, allowed, unit, isKept }
}
