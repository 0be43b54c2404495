import type { Policy } from '@hostpace/core'
import type { Limits } from '@hostpace/core/stores'
import { Limits as LimitsOfCore } from '../../core/src/limits.ts'

/** Limits as a pacer makes them for a ledger. To the compiler the sources of core are another package than core. */
export function limitsOf(policy: Policy): Limits {
  return new LimitsOfCore(policy, 1000, true) as unknown as Limits
}
