import { errorMonitor } from 'node:events'
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Permit } from '@hostpace/core'

/** What got sends with: a request of node:http or one that looks like it, or an answer that a function made up. */
export type NativeRequest = ClientRequest | IncomingMessage

/**
 * Follows one request to its end: when it is on the wire, what is answered, and when the body has ended,
 * failed or been thrown away.
 *
 * @param onEnd called once it is over
 */
export function watchHop(request: NativeRequest, permit: Permit, onEnd: () => void): void {
  const end = (error?: unknown) => {
    onEnd()
    permit.done(error === undefined ? undefined : { error })
  }
  if (!isClientRequest(request)) {
    // An answer without a request: nothing has left.
    end()
    return
  }
  let sentAtMs = performance.now()
  whenWritten(request, () => {
    sentAtMs = performance.now()
    permit.sent()
  })
  request.once(errorMonitor, end)
  request.once('close', () => end())
  request.once('response', (response) => {
    request.off(errorMonitor, end)
    permit.sent()
    permit.observe({ status: response.statusCode, headers: response.headers, latencyMs: performance.now() - sentAtMs })
    for (const name of ['end', 'close', 'aborted', errorMonitor]) response.once(name, () => end())
  })
}

/** Calls `written` when the request goes to the wire: with a socket that stands at once, else when it is connected. */
function whenWritten(request: ClientRequest, written: () => void): void {
  request.once('socket', (socket: Socket | TLSSocket) => {
    if (!socket.connecting && !isHandshaking(socket)) written()
    else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', written)
  })
}

function isHandshaking(socket: Socket | TLSSocket): boolean {
  return 'encrypted' in socket && 'secureConnecting' in socket && socket.secureConnecting === true
}

function isClientRequest(request: NativeRequest): request is ClientRequest {
  return typeof (request as { setHeader?: unknown } | undefined)?.setHeader === 'function' && !('statusCode' in request)
}
