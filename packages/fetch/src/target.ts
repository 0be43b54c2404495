/** The `Request` that was given in place of a URL; that of another realm or of undici will do. */
export function requestOf(input: unknown): Request | undefined {
  const { url, headers } = (typeof input === 'object' && input !== null ? input : {}) as Partial<Request>
  return typeof url === 'string' && typeof headers === 'object' ? (input as Request) : undefined
}

/**
 * Where a request goes over the network; `undefined` for `data:`, `blob:` and the like, and for what is no URL.
 * In browsers a URL may be relative to the page.
 */
export function targetOf(input: unknown): URL | undefined {
  try {
    const { location } = globalThis as { location?: { href?: string } }
    const url = new URL(requestOf(input)?.url ?? String(input), location?.href)
    return isHttp(url) ? url : undefined
  } catch {
    return undefined
  }
}

function isHttp({ protocol }: URL): boolean {
  return protocol === 'http:' || protocol === 'https:'
}
