import type { Policy } from '@hostpace/core'
import type { LogEntry } from './logs/log-entry.ts'
import type { Span } from './rules/rule.ts'
import { rulesOf } from './rules/rules-of.ts'

/** What a log says of one rule. */
export interface RuleVerdict {
  readonly rule: string
  /** How many requests were too many or too early. */
  readonly violations: number
  /** The span that came nearest to breaking the rule, or broke it most; `null` where there are too few requests. */
  readonly worst: Span | null
}

/** A request that broke a rule. */
export interface Violation extends Span {
  readonly rule: string
  /** When it came, in milliseconds since 1970. */
  readonly atMs: number
}

/** How one host was treated. */
export interface HostVerdict {
  /** As the log has it; '' where it does not tell. */
  readonly host: string
  /** What it was held to. */
  readonly policy: Policy
  readonly requests: number
  /** The first and the last request, in milliseconds since 1970. */
  readonly firstAtMs: number
  readonly lastAtMs: number
  /** Requests per second from the first to the last; `null` where both came at once. */
  readonly averagePerSecond: number | null
  readonly honoured: boolean
  readonly violations: number
  readonly rules: readonly RuleVerdict[]
  /** The first violations, as many as were asked for. */
  readonly shown: readonly Violation[]
}

/** Holds the requests to one host against a policy, as they come, in the order of their stamps. */
export class HostAudit {
  readonly #host: string
  readonly #policy: Policy
  readonly #firstAtMs: number
  readonly #rules: ReturnType<typeof rulesOf>
  readonly #violations: number[]
  readonly #mostShown: number
  readonly #shown: Violation[] = []
  #lastAtMs: number
  #requests = 0

  /** @param first its first request, from which times are counted: fractions of them are exact then */
  constructor(host: string, policy: Policy, resolutionMs: number, first: LogEntry, mostShown: number) {
    this.#host = host
    this.#policy = policy
    this.#firstAtMs = this.#lastAtMs = first.atMs
    this.#rules = rulesOf(policy, resolutionMs, first.atMs)
    this.#violations = this.#rules.map(() => 0)
    this.#mostShown = mostShown
  }

  take({ atMs, line }: LogEntry): void {
    this.#requests++
    this.#lastAtMs = atMs
    const stamp = { atMs: atMs - this.#firstAtMs, line }
    for (const [index, rule] of this.#rules.entries()) {
      const span = rule.take(stamp)
      if (span === undefined) continue
      this.#violations[index] = (this.#violations[index] as number) + 1
      if (this.#shown.length < this.#mostShown) this.#shown.push({ rule: rule.text, atMs, ...span })
    }
  }

  verdict(): HostVerdict {
    const violations = this.#violations.reduce((sum, count) => sum + count, 0)
    const spanMs = this.#lastAtMs - this.#firstAtMs
    return {
      host: this.#host,
      policy: this.#policy,
      requests: this.#requests,
      firstAtMs: this.#firstAtMs,
      lastAtMs: this.#lastAtMs,
      averagePerSecond: spanMs > 0 ? ((this.#requests - 1) / spanMs) * 1000 : null,
      honoured: violations === 0,
      violations,
      rules: this.#rules.map(({ text, worst }, index) => ({
        rule: text,
        violations: this.#violations[index] as number,
        worst: worst ?? null,
      })),
      shown: this.#shown,
    }
  }
}
