import { isIPv6 } from 'node:net'

/**
 * The host that a text names, by itself or in a URL, in the one form in which hosts are compared: as the WHATWG URL standard
 * has it (lower case, IDN in ASCII), with no dot at its end, and no port if it is that of http or https.
 *
 * @returns `undefined` if it names none, as a path does
 */
export function hostOf(text: string): string | undefined {
  const bare = text.trim()
  if (/[\s/?#@\\]/.test(bare)) return hostOfUrl(bare)
  return hostOfUrl(`http://${isIPv6(bare) ? `[${bare}]` : bare}`)
}

/** The host of a URL, as `hostOf` has it; `undefined` if it is none. */
export function hostOfUrl(text: string): string | undefined {
  if (!/^(?:https?|wss?):\/\//i.test(text) || !URL.canParse(text)) return undefined
  const { hostname, port } = new URL(text)
  const name = hostname.replace(/\.$/, '')
  return ['', '80', '443'].includes(port) ? name : `${name}:${port}`
}
