import type { HeaderCarrier, Outcome } from './permit.ts'

/** The outcome that a function's result tells of, if it looks like a response. */
export function outcomeOfResult(result: unknown): Outcome | undefined {
  if (typeof result !== 'object' || result === null) return undefined
  const { status, statusCode, headers } = result as Record<string, unknown>
  const code = typeof status === 'number' ? status : statusCode
  if (typeof code !== 'number') return undefined
  return { status: code, headers: headers as HeaderCarrier | undefined }
}

/** The outcome that an error tells of: that of its response, if it has one. */
export function outcomeOfError(error: unknown): Outcome {
  const response = typeof error === 'object' && error !== null ? (error as { response?: unknown }).response : undefined
  return { ...outcomeOfResult(response), error }
}
