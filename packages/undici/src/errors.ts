import type { HeaderCarrier, Outcome } from '@hostpace/core'

/** As undici has it for a request that was aborted without a reason; this package takes no code from undici. */
export class RequestAbortedError extends Error {
  override readonly name = 'AbortError'
  readonly code = 'UND_ERR_ABORTED'

  constructor(message = 'Request aborted') {
    super(message)
  }
}

/** Nothing says where a request goes, so nobody can tell which host to pace. */
export class MissingOriginError extends TypeError {
  readonly code = 'UND_ERR_INVALID_ARG'

  constructor() {
    super(
      'A paced request needs an origin: give it in the options of the request, or compose ' +
        'pace(pacer, { origin }) over a Client or Pool of undici 6 and 7',
    )
  }
}

/** An interceptor further inside has made an error of an answer: `responseError`, or `retry` of the last one. */
interface AnswerError {
  readonly code: string
  readonly statusCode: number
  readonly headers: HeaderCarrier
}

const codesOfAnswers = new Set<unknown>(['UND_ERR_RESPONSE', 'UND_ERR_REQ_RETRY'])
const codesOfUnsent = new Set<unknown>(['UND_ERR_INVALID_ARG', 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED'])

/** What a pacer learns from the failure of a request that it has seen no answer to. */
export function outcomeOf(error: unknown): Outcome | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code
  // The client would not even try, so nobody was bothered.
  if (codesOfUnsent.has(code)) return undefined
  if (!codesOfAnswers.has(code)) return { error }
  const { statusCode, headers } = error as AnswerError
  return { status: statusCode, headers }
}
