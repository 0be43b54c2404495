import type { TargetRule } from '../hosts.ts'

/**
 * How many milliseconds early a request may come before it is refused. On its way one request may
 * be held up and the next one not. It is only about refusing: the access log is judged by its stamps.
 */
export const graceMs = 50

/** The header in which nginx hands on when a request arrived, in seconds since 1970. */
export const arrivedHeader = 'x-arrived'

/** What nginx can enforce by itself: `limit_req` knows no windows and refuses nobody just once. */
export function isEnforcedByNginx(rule: TargetRule): rule is Extract<TargetRule, { intervalMs: number }> {
  return rule.kind === 'interval' || rule.kind === 'redirect'
}

export type Decision = 'serve' | 'redirect' | { retryAfterMs: number }

/** Decides about one request after the other; `nowMs` is when it arrived. */
export function ruleKeeper(rule: TargetRule): (nowMs: number) => Decision {
  switch (rule.kind) {
    case 'interval':
      return intervalKeeper(rule.intervalMs, 'serve')
    case 'redirect':
      return intervalKeeper(rule.intervalMs, 'redirect')
    case 'window':
      return windowKeeper(rule.limit, rule.windowMs)
    case 'refuse-once':
      return refuseOnce(rule.atRequest, rule.retryAfterSeconds * 1000)
  }
}

/** As nginx's `limit_req` without a burst: what it refuses leaves no trace. */
function intervalKeeper(intervalMs: number, otherwise: Decision): (nowMs: number) => Decision {
  let lastMs = Number.NEGATIVE_INFINITY
  return (nowMs) => {
    if (nowMs - lastMs < intervalMs - graceMs) return { retryAfterMs: 1000 }
    lastMs = nowMs
    return otherwise
  }
}

function windowKeeper(limit: number, windowMs: number): (nowMs: number) => Decision {
  const served: number[] = []
  return (nowMs) => {
    const oldest = served.at(-limit)
    if (oldest !== undefined && nowMs - oldest < windowMs - graceMs) {
      return { retryAfterMs: Math.ceil((oldest + windowMs - nowMs) / 1000) * 1000 }
    }
    served.push(nowMs)
    return 'serve'
  }
}

function refuseOnce(atRequest: number, retryAfterMs: number): (nowMs: number) => Decision {
  let requests = 0
  let quietUntilMs = Number.NEGATIVE_INFINITY
  return (nowMs) => {
    requests += 1
    if (requests === atRequest) {
      quietUntilMs = nowMs + retryAfterMs - graceMs
      return { retryAfterMs }
    }
    return nowMs < quietUntilMs ? { retryAfterMs: Math.ceil((quietUntilMs - nowMs) / 1000) * 1000 } : 'serve'
  }
}
