import type { Policy } from '@hostpace/core'
import type { LoggedRequest } from './access-log.ts'
import type { HostName } from './hosts.ts'
import type { Verdict } from './judge.ts'
import type { Waits } from './waits.ts'

/** All that the demo has to say about one host in the end. */
export interface HostReport {
  name: HostName
  /** What the host asks for, in words. */
  asks: string
  policy: Policy
  /** What served it: nginx or Node. */
  server: string
  /** Its access log, in the order of arrival. */
  log: readonly LoggedRequest[]
  verdict: Verdict
  /** How often and how long each layer made requests wait. */
  waits: Waits
}
