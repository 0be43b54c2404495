import { nonNegativeNumber } from './checks.ts'
import { handOver } from './handover.ts'
import { outcomeOfError, outcomeOfResult } from './outcome.ts'
import type { Pacer } from './pacer.ts'
import type { Permit } from './permit.ts'
import type { Policy } from './policy.ts'

/** What a look-up of a policy may do on its way. */
export interface PolicyLookup {
  /**
   * Asks a host something that its policy depends on, such as for its robots.txt. It waits for its turn by what is
   * known of that host without the look-up, ahead of all who wait for the look-up, and is counted as any request that
   * leaves when it has been answered, or has failed: so the next one is an interval behind it however long it took to connect.
   *
   * @param send sends one request to `url`; an adapter beneath for the same pacer does not wait again. A result, or an
   *   error's `response`, that has a status and headers is observed
   * @throws what `send` throws, what the pacer rejects with, and the signal's reason
   */
  run<T>(url: string | URL, send: () => T | Promise<T>, options?: { signal?: AbortSignal | undefined }): Promise<T>
  /** Now, in milliseconds on the clock of the pacer. */
  now(): number
  /** Has the policy looked up again when a request comes later than `ms` from now on. By default it never is. */
  validFor(ms: number): void
}

/** Looks up policies. The function alone will do. */
export interface PolicyFor {
  /** The policy of a host, which is then kept as long as the host is remembered. */
  (key: string, lookup: PolicyLookup): Policy | undefined | PromiseLike<Policy | undefined>
  /**
   * Asked for each request before it waits, once the policy of its host is known. What it throws is what `wait` rejects
   * with.
   */
  readonly check?: ((url: URL, key: string) => void | PromiseLike<void>) | undefined
}

/** What the look-up of one host is given. */
export function policyLookup(
  pacer: Pacer,
  wait: (url: string | URL, signal: AbortSignal | undefined) => Promise<Permit>,
  validFor: (ms: number) => void,
  now: () => number,
): PolicyLookup {
  return {
    async run(url, send, options) {
      const permit = await wait(url, options?.signal)
      try {
        const result = await handOver([pacer], url, send)
        // Nobody tells when it reached the host. By now it has, and what comes next keeps its distance from here.
        permit.sent()
        permit.done(outcomeOfResult(result))
        return result
      } catch (error) {
        permit.done(outcomeOfError(error))
        throw error
      }
    },
    now,
    validFor: (ms) => validFor(nonNegativeNumber(ms, 'ms')),
  }
}
