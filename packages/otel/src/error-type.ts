/**
 * The `error.type` of what a request was refused with: the code of an error of ours, the name that the platform gives
 * to an abort or a time-out, else `_OTHER`. So there are few, whatever programs abort with.
 */
export function errorTypeOf(error: unknown): string {
  const { code, name } = (typeof error === 'object' && error !== null ? error : {}) as {
    code?: unknown
    name?: unknown
  }
  if (typeof code === 'string' && code.startsWith('ERR_HOSTPACE_')) return code
  return name === 'AbortError' || name === 'TimeoutError' ? name : '_OTHER'
}
