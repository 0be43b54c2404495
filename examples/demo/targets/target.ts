import type { HostName, TargetRule } from '../hosts.ts'

/** All that a server has to know to be one of the targets. */
export interface Target {
  name: HostName
  port: number
  rule: TargetRule
  /** The folder with its pages. */
  root: string
  /** The file that it writes its access log to. */
  log: string
  /** Where a `redirect` target sends people. */
  redirectTo: string | undefined
}

/** Targets that are up. */
export interface RunningTargets {
  /** Resolves once nobody listens any more and the access logs are complete. */
  stop(): Promise<void>
}

/** Which targets are served by what. */
export interface TargetPlan {
  node: Target[]
  nginx?: { program: string; folder: string; targets: Target[] }
}
