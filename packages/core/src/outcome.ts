import { anyObject, nonNegativeNumber, show } from './checks.ts'
import { PolicyError } from './errors.ts'
import type { HeaderCarrier, Outcome } from './permit.ts'

/** Refuses what tells of no outcome. What a server may have sent wrong is not looked at here. */
export function checkOutcome(outcome: Outcome): void {
  if (Symbol.iterator in anyObject(outcome, 'outcome')) {
    throw new PolicyError('outcome', `must be an object with fields, got ${show(outcome)}`)
  }
  const { status, headers, latencyMs, limited } = outcome
  if (status !== undefined && !isStatus(status)) {
    throw new PolicyError('outcome.status', `must be a whole number from 100 to 999, or 0, got ${show(status)}`)
  }
  if (headers !== undefined && typeof headers !== 'object') {
    throw new PolicyError('outcome.headers', `must be headers in an object, got ${show(headers)}`)
  }
  if (limited !== undefined && typeof limited !== 'boolean') {
    throw new PolicyError('outcome.limited', `must be true or false, got ${show(limited)}`)
  }
  if (latencyMs !== undefined) nonNegativeNumber(latencyMs, 'outcome.latencyMs')
}

/** The outcome that a function's result tells of, if it looks like a response. */
export function outcomeOfResult(result: unknown): Outcome | undefined {
  if (typeof result !== 'object' || result === null) return undefined
  const { status, statusCode, headers } = result as Record<string, unknown>
  const code = typeof status === 'number' ? status : statusCode
  if (!isStatus(code)) return undefined
  return { status: code, headers: typeof headers === 'object' ? (headers as HeaderCarrier) : undefined }
}

/** Three digits (RFC 9110, section 15), also beyond 599, which some servers send; or 0, as a response of `fetch` may have. */
function isStatus(status: unknown): status is number {
  return status === 0 || (Number.isSafeInteger(status) && (status as number) >= 100 && (status as number) <= 999)
}

/** The outcome that an error tells of: that of its response, if it has one. */
export function outcomeOfError(error: unknown): Outcome {
  const response = typeof error === 'object' && error !== null ? (error as { response?: unknown }).response : undefined
  return { ...outcomeOfResult(response), error }
}
