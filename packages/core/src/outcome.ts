import { anyObject, nonNegativeNumber, show } from './checks.ts'
import { PolicyError } from './errors.ts'
import type { HeaderCarrier, Outcome } from './permit.ts'

/** Refuses what tells of no outcome. What a server may have sent wrong is not looked at here. */
export function checkOutcome(outcome: Outcome): void {
  anyObject(outcome, 'outcome')
  const { status, latencyMs, limited } = outcome
  if (status !== undefined && !Number.isSafeInteger(status)) {
    throw new PolicyError('outcome.status', `must be a whole number, got ${show(status)}`)
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
  if (!Number.isSafeInteger(code)) return undefined
  return { status: code as number, headers: headers as HeaderCarrier | undefined }
}

/** The outcome that an error tells of: that of its response, if it has one. */
export function outcomeOfError(error: unknown): Outcome {
  const response = typeof error === 'object' && error !== null ? (error as { response?: unknown }).response : undefined
  return { ...outcomeOfResult(response), error }
}
