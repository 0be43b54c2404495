import type { Situation } from '../situation.ts'
import { aborted } from './aborted.ts'
import { cacheHits } from './cache-hits.ts'
import { earlyTimers } from './early-timers.ts'
import { fortyLinks } from './forty-links.ts'
import { fourProcesses } from './four-processes.ts'
import { processExit } from './process-exit.ts'
import { redirect } from './redirect.ts'
import { restart } from './restart.ts'
import { retryAfter } from './retry-after.ts'
import { windowEdge } from './window-edge.ts'

/** The rows of the scoreboard. */
export const situations: readonly Situation[] = [
  fortyLinks,
  windowEdge,
  fourProcesses,
  aborted,
  redirect,
  retryAfter,
  restart,
  earlyTimers,
  processExit,
  cacheHits,
]
