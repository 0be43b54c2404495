import { show } from './checks.ts'
import { PolicyError } from './errors.ts'

/**
 * What requests have in common that share a limit: the origin (scheme, host and port), the host (and port, if
 * it is not the scheme's), or what a function makes of the URL.
 */
export type KeyBy = 'origin' | 'host' | ((url: URL, request: unknown) => string)

/**
 * The origin of a URL as a key: scheme, host and port as the WHATWG URL standard has them (lower case,
 * IDN in ASCII, the scheme's own port dropped), and without the dot that may end a host's full name.
 *
 * A unix socket has no origin; its key is `unix:` and the path of the socket, for the forms
 * `unix:/run/app.sock:/path` and `http://unix:/run/app.sock:/path`.
 *
 * @throws {TypeError} if it is not a URL with a host
 */
export function originOf(url: string | URL): string {
  checkUrl(url)
  const socket = unixSocketOf(url)
  if (socket !== undefined) return socket
  const { protocol, host } = parse(url)
  if (host === '') throw new TypeError(`${show(String(url))} has no host to pace by`)
  return `${protocol}//${withoutTrailingDot(host)}`
}

/** Finds the key of URLs, and remembers it by the part of the URL that it depends on. */
export class KeyFinder {
  readonly #keyBy: KeyBy
  readonly #known = new Map<string, string>()
  /** The last plain origin and its key: the next URL often has the same, and the hash of this text is known. */
  #lastOrigin = ''
  #lastKey = ''

  /** @throws {PolicyError} if `keyBy` is none of the known */
  constructor(keyBy: KeyBy = 'origin') {
    if (keyBy !== 'origin' && keyBy !== 'host' && typeof keyBy !== 'function') {
      throw new PolicyError('options.keyBy', `must be 'origin', 'host' or a function, got ${show(keyBy)}`)
    }
    this.#keyBy = keyBy
  }

  /** @throws {TypeError} if `url` is not a URL with a host */
  keyOf(url: string | URL, request?: unknown): string {
    checkUrl(url)
    const keyBy = this.#keyBy
    if (typeof keyBy === 'function') {
      const key: unknown = keyBy(parse(url), request)
      if (typeof key === 'string' && key !== '') return key
      throw new PolicyError('keyBy', `must give a text that is not empty, gave ${show(key)}`)
    }
    const text = typeof url === 'string' ? url : url.href
    const origin = plainOriginOf(text)
    if (origin !== undefined) return this.#ofPlainOrigin(origin)
    const prefix = authorityPrefix(text)
    const known = this.#known.get(prefix)
    if (known !== undefined) return known
    const key = this.#ofOrigin(originOf(url))
    if (plainPrefix.test(prefix)) this.#remember(prefix, key)
    return key
  }

  /** The key that a configured host stands for. */
  configuredKey(host: string, path: string): string {
    if (typeof this.#keyBy === 'function') return host
    if (host.includes('*')) throw new PolicyError(path, 'names no single host; options.policyFor can look up many')
    const isName = this.#keyBy === 'host' && !/:\/\/|^unix:/i.test(host)
    const url = isName ? `https://${host}` : host
    let key: string
    try {
      key = this.keyOf(url)
    } catch (cause) {
      const form = this.#keyBy === 'host' ? "a host, such as 'a.example'" : "an origin, such as 'https://a.example'"
      throw new PolicyError(path, `is not ${form}`, { cause })
    }
    if (!key.startsWith('unix:') && /[?#]|\/./.test(url.slice(url.indexOf('//') + 2))) {
      throw new PolicyError(path, `has a path, but a policy is that of the whole host: ${key}`)
    }
    return key
  }

  #ofPlainOrigin(origin: string): string {
    if (origin !== this.#lastOrigin) {
      this.#lastOrigin = origin
      this.#lastKey = this.#ofOrigin(origin)
    }
    return this.#lastKey
  }

  #ofOrigin(origin: string): string {
    return this.#keyBy === 'host' && !origin.startsWith('unix:') ? origin.slice(origin.indexOf('//') + 2) : origin
  }

  #remember(prefix: string, key: string): void {
    // Forgetting all is simple, and cheap enough at once per so many new prefixes.
    if (this.#known.size >= 10_000) this.#known.clear()
    this.#known.set(prefix, key)
  }
}

/**
 * A prefix that ends before the path and decides the origin alone: no escapes, spaces or backslashes to be read
 * twice, and not the host that stands for a unix socket, whose path follows.
 */
const plainPrefix = /^https?:\/\/(?!unix:?$)[\w.:@[\]-]+$/

/** Names of lower-case labels, the last of which is not a number, and no port: what parsing would leave as it is. */
const plainOrigin = /https?:\/\/(?:[a-z\d]+(?:-[a-z\d]+)*\.)+[a-z]+(?=[/?#]|$)/y

/** The origin of a URL that says it in normal form already, at a tenth of the cost of parsing it. */
function plainOriginOf(url: string): string | undefined {
  plainOrigin.lastIndex = 0
  return plainOrigin.test(url) ? url.slice(0, plainOrigin.lastIndex) : undefined
}

/** The part of a URL up to its path. */
function authorityPrefix(url: string): string {
  const end = url.indexOf('/', url.indexOf('//') + 2)
  return end < 0 ? url : url.slice(0, end)
}

function checkUrl(url: string | URL): void {
  if (typeof url === 'string' || typeof url?.href === 'string') return
  throw new TypeError(`url must be a string or a URL, got ${show(url)}`)
}

function parse(url: string | URL): URL {
  if (typeof url !== 'string') return url
  try {
    return new URL(url)
  } catch (cause) {
    throw new TypeError(`${show(url)} is not a URL`, { cause })
  }
}

function withoutTrailingDot(host: string): string {
  const port = /:\d+$/.exec(host)?.[0] ?? ''
  const name = port === '' ? host : host.slice(0, -port.length)
  return name.endsWith('.') ? name.slice(0, -1) + port : host
}

/** `unix:/socket:/path` in full; in the form `http://unix:/socket:/path` a URL object has lost the first colon. */
const unixSocket = /^unix:(\/[^:]*)|^https?:\/\/unix:?(\/[^:]*):/i

function unixSocketOf(url: string | URL): string | undefined {
  const [, own, asHost] = unixSocket.exec(typeof url === 'string' ? url : url.href) ?? []
  const socket = own ?? asHost
  return socket === undefined ? undefined : `unix:${socket}`
}
