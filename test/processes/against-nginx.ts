import type { LimitedServer } from '../server-limiters/node-servers.ts'
import { startNginx } from '../server-limiters/proxies.ts'
import { runWorkers, type StorePlan, type WorkerReport } from './start-workers.ts'

/** What came of many processes that send to one nginx. */
export interface NginxResult {
  readonly reports: readonly WorkerReport[]
  readonly passed: number
  readonly refused: number
  /** What passed, of what nginx allows in the time from the first to the last answer. */
  readonly share: number
  /** What the process got that got least, of an equal share. */
  readonly least: number
}

/** How many requests may leave at once. */
const burst = 5

/**
 * Many processes send to nginx as fast as their store lets them, at the rate that nginx allows.
 *
 * The pacers allow a burst of 5, so that what comes a little late costs no rate: 80 ms at 50 a second. nginx allows a few
 * more than that, since requests that left at the right distance may arrive closer together.
 *
 * @param jitter how many of them may: those that a machine which stands still for a moment lets go at once
 */
export async function runAgainstNginx(
  nginx: string,
  processes: number,
  store: StorePlan,
  forMs: number,
  jitter = 4,
): Promise<NginxResult> {
  const perSecond = 50
  const server: LimitedServer = await startNginx(nginx, perSecond, burst - 1 + jitter)
  try {
    const policy = { rate: perSecond, capacity: burst }
    return summed(await runWorkers(processes, { store, origin: server.origin, policy }, forMs), perSecond)
  } finally {
    await server.close()
  }
}

function summed(reports: readonly WorkerReport[], perSecond: number): NginxResult {
  const passedOf = ({ statuses }: WorkerReport) => statuses[200] ?? 0
  const passed = reports.reduce((sum, report) => sum + passedOf(report), 0)
  const refused = reports.reduce((sum, { statuses }) => sum + (statuses[429] ?? 0), 0)
  const firstMs = Math.min(...reports.map(({ firstMs }) => firstMs))
  const lastMs = Math.max(...reports.map(({ lastMs }) => lastMs))
  const share = (passed - 1) / (((lastMs - firstMs) / 1000) * perSecond)
  const least = Math.min(...reports.map(passedOf)) / (passed / reports.length)
  return { reports, passed, refused, share, least }
}
