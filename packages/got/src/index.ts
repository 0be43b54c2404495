import { type Pacer, type PacerOptions, toPacer } from '@hostpace/core'
import type { ExtendOptions, GotReturn, HandlerFunction, Options } from 'got'
import { Call } from './call.ts'

/**
 * Paces the requests of a got instance, per target host.
 *
 * ```ts
 * import got from 'got'
 * import { pace } from '@hostpace/got'
 *
 * const client = got.extend(pace({ rate: '10r/s' }))
 * ```
 *
 * Every hop that leaves waits for the host it goes to: the first one, redirects, retries, pages and streams. What
 * got answers from its `cache` or what a hook answers costs nothing. The same pacer installed twice paces once.
 *
 * @param pacerOrOptions a pacer to share with other clients, or the options to make one
 * @returns what `got.extend` takes
 * @throws {PolicyError} if an option makes no sense
 */
export function pace(pacerOrOptions?: Pacer | PacerOptions): ExtendOptions {
  const pacer = toPacer(pacerOrOptions)
  // got's type for handlers wants a promise to be T; a stream or a promise, it is what `next` gave.
  const handler = (options: Options, next: (options: Options) => GotReturn) => new Call(pacer, options).start(next)
  return { handlers: [handler as HandlerFunction] }
}
