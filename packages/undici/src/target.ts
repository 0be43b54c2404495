/**
 * The URL that a request goes to. It is not parsed here: the pacer looks at no more of it than it needs, and what is
 * no URL is for undici to complain about.
 *
 * @returns `undefined` if nothing says where it goes
 */
export function targetOf(origin: string | URL | undefined, path: unknown): string | undefined {
  if (origin === undefined) return undefined
  const base = typeof origin === 'string' ? origin : String(origin.origin)
  if (typeof path !== 'string') return base
  if (path.startsWith('/')) return base.endsWith('/') ? base + path.slice(1) : base + path
  // A whole URL as path is what one asks of a proxy.
  return path.startsWith('http://') || path.startsWith('https://') ? path : base
}
