import type { AnyHandler, DispatchOptions } from './dispatch.ts'

/** An origin whose host is an IP address. */
const addressOrigin = /^https?:\/\/(?:\[|[\d.]+(?:[:/]|$))/i

/** By handler: the interceptor that put an address in place of the name sends the next address it tries with the same one. */
const names = new WeakMap<AnyHandler, string>()

/**
 * The URL that a request goes to. It is not parsed here: the pacer looks at no more of it than it needs, and what is
 * no URL is for undici to complain about.
 *
 * Where the origin is an address, `servername` is the host: the dns interceptor further out says there which name it
 * looked up. All addresses of a name then are one host.
 *
 * @param origin where it goes if the options do not say so
 * @returns `undefined` if nothing says where it goes
 */
export function targetOf(
  options: DispatchOptions,
  handler: AnyHandler,
  origin: string | URL | undefined,
): string | undefined {
  const { path } = options
  const given = options.origin ?? origin
  if (given === undefined) return undefined
  const written = typeof given === 'string' ? given : String(given.origin)
  const base = addressOrigin.test(written) ? named(written, nameOf(options, handler)) : written
  if (typeof path !== 'string') return base
  if (path.startsWith('/')) return base.endsWith('/') ? base + path.slice(1) : base + path
  // A whole URL as path is what one asks of a proxy.
  return path.startsWith('http://') || path.startsWith('https://') ? path : base
}

function nameOf({ servername }: DispatchOptions, handler: AnyHandler): string | undefined {
  if (typeof servername !== 'string') return names.get(handler)
  names.set(handler, servername)
  return servername
}

function named(origin: string, name: string | undefined): string {
  if (name === undefined || !URL.canParse(origin)) return origin
  const url = new URL(origin)
  url.hostname = name
  return url.origin
}
