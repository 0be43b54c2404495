import { forgivenAfterMs } from './learned.ts'

/** What is known of the pauses of a host; plain JSON. Times are milliseconds on the pacer's clock. */
export interface Hold {
  /** When the last pause ends or ended. */
  readonly untilMs: number
  /** How many pauses in a row came without the host saying how long. */
  readonly unhinted: number
  /** Why it was last held, for people. */
  readonly reason: string
}

/** An answer that says the host had too much. */
export interface LimitAnswer {
  readonly status: number
  /** How long it asks to stay away, by its `Retry-After` or the reset of an exhausted limit. */
  readonly retryAfterMs: number | undefined
  /** When the request left. */
  readonly departedAtMs: number
}

const firstHoldMs = 60_000
const longestUnhintedMs = 86_400_000

/**
 * Whether an answer says that the host had too much: 429 and 529 always; 503, 403 and redirections only if they say
 * how long to stay away, since else they are mostly about something else.
 */
export function isLimitAnswer(status: number, retryAfterMs: number | undefined): boolean {
  if (status === 429 || status === 529) return true
  const maybe = status === 503 || status === 403 || (status >= 300 && status < 400)
  return maybe && retryAfterMs !== undefined
}

/**
 * How long a host is held after a limit answer.
 *
 * The server's word counts, uncut; the longest of several wins. Where it gives none, the host is held
 * for 60 s, twice as long each time in a row up to a day, and is forgiven after 30 quiet minutes.
 * Answers to requests that left before the last pause was over belong to the episode that it was for.
 *
 * @returns the new state, or the same if the answer changes nothing
 */
export function holdAfter(hold: Hold | undefined, answer: LimitAnswer, nowMs: number): Hold {
  if (answer.retryAfterMs !== undefined) {
    const untilMs = nowMs + answer.retryAfterMs
    if (hold !== undefined && hold.untilMs > untilMs) return hold
    return { untilMs, unhinted: hold?.unhinted ?? 0, reason: `${answer.status} with a time to wait` }
  }
  if (hold !== undefined && answer.departedAtMs < hold.untilMs) return hold
  const isForgiven = hold === undefined || nowMs - hold.untilMs >= forgivenAfterMs
  const unhinted = isForgiven ? 1 : hold.unhinted + 1
  const forMs = Math.min(firstHoldMs * 2 ** (unhinted - 1), longestUnhintedMs)
  return { untilMs: nowMs + forMs, unhinted, reason: `${answer.status} without a time to wait` }
}

/** Whether nothing of a hold matters any more. */
export function isForgotten(hold: Hold, nowMs: number): boolean {
  return nowMs >= hold.untilMs + (hold.unhinted > 0 ? forgivenAfterMs : 0)
}
