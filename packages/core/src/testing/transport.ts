/**
 * How requests get from a client to the servers of the adapter suite, which are all on loopback:
 *
 * - `HTTP/1.1`: in plain
 * - `TLS`: HTTP/1.1 over TLS
 * - `HTTP/2`: over TLS, to servers that speak nothing else
 * - `proxy`: HTTP/1.1 in plain, through a forward proxy
 * - `tunnel`: HTTP/1.1 over TLS, in a tunnel (`CONNECT`) through that proxy
 */
export type Transport = 'HTTP/1.1' | 'TLS' | 'HTTP/2' | 'proxy' | 'tunnel'

/** What a driver must know to connect its client. Over TLS it has to trust `testCertificate`. */
export interface Connection {
  readonly transport: Transport
  /** Where the proxy listens; `undefined` over a transport that has none. */
  readonly proxyUrl: string | undefined
}

export function usesTls(transport: Transport): boolean {
  return transport === 'TLS' || transport === 'HTTP/2' || transport === 'tunnel'
}

export function usesProxy(transport: Transport): boolean {
  return transport === 'proxy' || transport === 'tunnel'
}
