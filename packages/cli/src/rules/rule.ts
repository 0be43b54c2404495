/** One request as a rule sees it. */
export interface Stamp {
  /** Milliseconds from a fixed moment. The request came then or less than `resolutionMs` later. */
  readonly atMs: number
  /** Which line or entry of the log it is, from 1. */
  readonly line: number
}

/** More requests in a span of time than a rule permits; the last of them is the one that was too many. */
export interface Span {
  readonly firstLine: number
  readonly lastLine: number
  /** How many requests there are in it, first and last included. */
  readonly count: number
  /** How many are permitted. */
  readonly permitted: number
  /** The length of the span in milliseconds, at most: the requests came within less than this. */
  readonly withinMs: number
}

/**
 * One rule of a policy, to which a log is held request by request.
 *
 * A log rounds moments down, so a stamp stands for a span of time. A rule is violated where no moments within
 * the stamps would honour it: what is reported is certain, whatever the fractions were that the log left out.
 */
export interface Rule {
  /** What it permits, in words. */
  readonly text: string
  /** Takes the next request, in the order of their stamps. @returns the span that breaks the rule, if it does */
  take(stamp: Stamp): Span | undefined
  /** The span that came nearest to breaking the rule, or broke it most; `undefined` before there are two requests. */
  readonly worst: Span | undefined
}

/** A trace of a sum of fractions, which decides nothing. */
export const nanosecondMs = 1e-6

/** Whether a moment is past all that a stamp may stand for. */
export function isPast(momentMs: number, { atMs }: Stamp, resolutionMs: number): boolean {
  return momentMs >= atMs + resolutionMs - nanosecondMs
}
