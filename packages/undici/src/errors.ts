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

const codesOfUnsent = new Set<unknown>(['UND_ERR_INVALID_ARG', 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED'])

/** Whether a client says with this error that it would not even try, so that nobody was bothered. */
export function isRefusal(error: unknown): boolean {
  return codesOfUnsent.has((error as { code?: unknown } | null | undefined)?.code)
}
