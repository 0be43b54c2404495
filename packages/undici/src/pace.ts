import { type Pacer, type PacerOptions, PolicyError, readRequestOptions, takesHandovers, toPacer } from '@hostpace/core'
import type { Dispatcher } from 'undici'
import type { AnyHandler, Dispatch } from './dispatch.ts'
import { LegacyRequest } from './legacy-request.ts'
import { ModernRequest } from './modern-request.ts'
import type { Lane, PacedRequest } from './paced-request.ts'
import { targetOf } from './target.ts'

/** What the interceptor cannot find out by itself. */
export interface PaceSettings {
  /**
   * Where the requests go that do not say so themselves: those of a `Client` or `Pool` in undici 6 and 7.
   * @default none; such a request fails
   */
  origin?: string | URL
}

/**
 * Makes an interceptor for `.compose()` that holds each request back until its host may be asked.
 *
 * ```ts
 * setGlobalDispatcher(getGlobalDispatcher().compose(pace({ rate: '10r/s' })))
 * ```
 *
 * Compose it first, so that redirects, retries and cache misses of other interceptors come through it:
 * `agent.compose(pace(pacer), interceptors.redirect(), interceptors.retry())`. Composing it twice for the
 * same pacer charges once.
 *
 * @param pacerOrOptions a pacer to share, or what `createPacer` takes to make one
 * @throws {PolicyError} if the options make no sense
 */
export function pace(
  pacerOrOptions?: Pacer | PacerOptions,
  settings: PaceSettings = {},
): Dispatcher.DispatcherComposeInterceptor {
  const origin = originAmong(settings)
  const pacer = toPacer(pacerOrOptions)
  takesHandovers(pacer)

  // undici 8 says here where a Client or Pool goes; the others leave it out.
  function intercept(dispatch: Dispatch, composedOrigin?: string | null): Dispatch {
    return (options, handler) => {
      const { skip } = readRequestOptions(options.hostpace)
      if (skip || options.method === 'CONNECT') return dispatch(options, handler)
      const target = targetOf(options, handler, composedOrigin ?? origin)
      return requestFor({ pacer, dispatch, options, target }, handler).go()
    }
  }
  return intercept as unknown as Dispatcher.DispatcherComposeInterceptor
}

/** The handler's own generation is what the dispatcher beneath speaks as well. */
function requestFor(lane: Lane, handler: AnyHandler): PacedRequest {
  return typeof handler.onRequestStart === 'function'
    ? new ModernRequest(lane, handler)
    : new LegacyRequest(lane, handler)
}

function originAmong(settings: PaceSettings): URL | undefined {
  for (const name in settings) if (name !== 'origin') throw new PolicyError(`settings.${name}`, 'is unknown')
  const { origin } = settings
  if (origin === undefined) return undefined
  if (URL.canParse(String(origin))) return new URL(origin)
  throw new PolicyError('settings.origin', `must be a URL, got ${origin}`)
}
