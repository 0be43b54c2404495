import type { HostName, TargetRule } from '../hosts.ts'
import type { Stall } from './stalls.ts'

/** All that a server has to know to be one of the targets. */
export interface Target {
  name: HostName
  port: number
  rule: TargetRule
  /** The folder with its pages. */
  root: string
  /** The file that it writes its access log to. */
  log: string
  /** Where nginx stands in front and writes the log: the port of the Node server behind it, which decides. */
  portBehind?: number
  /** Where a `redirect` target sends people. */
  redirectTo: string | undefined
}

/** Targets that are up. */
export interface RunningTargets {
  /** Resolves once nobody listens any more and the access logs are complete. */
  stop(): Promise<void>
}

/** Targets in a process of their own. */
export interface TargetProcess {
  /** Resolves as above, with the spans in which their process was held up. */
  stop(): Promise<Stall[]>
}

/** What to start. */
export interface TargetPlan {
  targets: Target[]
  /** The nginx to put in front, so that each stamp comes from a program that does nothing else. */
  nginx?: { program: string; folder: string }
}
