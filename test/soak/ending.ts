import { isWhole } from './chaos.ts'
import type { Answer } from './clients/client.ts'

/** How a request can end. All but `unexpected` is what was asked for or what the server did. */
export const endings = [
  'whole',
  'refused',
  'broken',
  'timed out',
  'aborted',
  'hung up',
  'too long',
  'line full',
  'unexpected',
] as const
export type Ending = (typeof endings)[number]

/** The ending of a request that was answered. */
export function endingOfAnswer({ status, text }: Answer, id: number): Ending {
  if (status >= 400) return 'refused'
  if (text === undefined) return 'hung up'
  return status === 200 && isWhole(text, id) ? 'whole' : 'unexpected'
}

/** By the code or the name of an error, or of one that caused it. What comes first decides. */
const signs: readonly (readonly [Ending, RegExp])[] = [
  ['too long', /^ERR_HOSTPACE_WAIT_TOO_LONG$/],
  ['line full', /^ERR_HOSTPACE_QUEUE_FULL$/],
  ['timed out', /^(ETIMEDOUT|ECONNABORTED|UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT)$/],
  ['refused', /^(ERR_NON_2XX_3XX_RESPONSE|ERR_BAD_REQUEST)$/],
  ['broken', /^(ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE|UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/],
  // undici goes on where a body was cut, which this server does not offer.
  ['broken', /^UND_ERR_REQ_RETRY$/],
]

/**
 * The ending of a request that failed.
 *
 * @param signal what it ran under. Each client gives up with an error of its own; undici and fetch with the very reason.
 */
export function endingOfError(error: unknown, signal: AbortSignal | undefined): Ending {
  if (signal?.aborted && isAbort(error, signal)) return 'aborted'
  const status = (error as { response?: { status?: number } }).response?.status
  if (status !== undefined && status >= 400) return 'refused'
  for (const [ending, sign] of signs) {
    if (causes(error).some(({ code }) => typeof code === 'string' && sign.test(code))) return ending
  }
  return 'unexpected'
}

function isAbort(error: unknown, signal: AbortSignal): boolean {
  // The last one is of undici's stream(), where the signal was aborted before it was called.
  const codes = ['ERR_ABORTED', 'ERR_CANCELED', 'UND_ERR_ABORTED']
  return error === signal.reason || causes(error).some(({ code }) => codes.includes(String(code)))
}

function causes(error: unknown): { code?: unknown }[] {
  const list: { code?: unknown }[] = []
  for (let cause = error; typeof cause === 'object' && cause !== null && list.length < 10; ) {
    list.push(cause)
    cause = (cause as { cause?: unknown }).cause
  }
  return list
}

/** An error in one line, with what caused it. */
export function describe(error: unknown): string {
  return causes(error)
    .map((cause) => `${cause}${cause.code === undefined ? '' : ` (${cause.code})`}`)
    .join(', because of ')
}
