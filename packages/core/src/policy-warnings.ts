import type { Policy } from './policy.ts'
import { msPerRequest } from './rate.ts'

interface ProcessLike {
  emitWarning?(warning: string, options: { type: string; code: string; detail?: string }): void
}

/**
 * Warns, once for each policy of a pacer or limiter, of what is allowed but rarely meant:
 *
 * - `HOSTPACE_BURST`: a burst of more than one second of the rate, without a `justification`;
 * - `HOSTPACE_QUOTA_ONLY`: a quota of a minute or longer and nothing that says how fast to go, so
 *   that the whole quota may leave at once.
 *
 * The warning goes to `process.emitWarning` where there is one, else to `console.warn`.
 */
export function warnAboutPolicy(policy: Policy, path: string): void {
  const { rate, capacity, justification, intervalMs, quotas = [] } = policy
  if (rate !== undefined && capacity !== undefined && justification === undefined) {
    const oneSecond = Math.max(1, 1000 / msPerRequest(rate))
    if (capacity > oneSecond) {
      const text = `${path}.capacity of ${capacity} is a burst of more than one second of ${rate}`
      warn(`${text}; give a justification if the host is fine with it`, 'HOSTPACE_BURST')
    }
  }
  const longest = Math.max(0, ...quotas.map((quota) => quota.windowMs))
  if (longest >= 60_000 && rate === undefined && intervalMs === undefined) {
    warn(`${path}.quotas alone let the whole quota leave at once; add a rate or an interval`, 'HOSTPACE_QUOTA_ONLY')
  }
}

function warn(message: string, code: string): void {
  const { process } = globalThis as { process?: ProcessLike }
  // biome-ignore lint/suspicious/noConsole: where there is no process to warn by, the console is what is left
  if (process?.emitWarning === undefined) console.warn(`${code}: ${message}`)
  else process.emitWarning(message, { type: 'HostpaceWarning', code })
}
