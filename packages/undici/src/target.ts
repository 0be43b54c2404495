/**
 * The URL that a request goes to. It is not parsed here: the pacer looks at no more of it than it needs, and what is
 * no URL is for undici to complain about.
 *
 * @returns `undefined` if nothing says where it goes
 */
export function targetOf(origin: string | URL | undefined, path: unknown): string | undefined {
  if (origin === undefined) return undefined
  const base = typeof origin === 'string' ? origin : String(origin.origin)
  // `OPTIONS *` has no path.
  if (typeof path !== 'string' || !path.startsWith('/')) return base
  return base.endsWith('/') ? base + path.slice(1) : base + path
}
