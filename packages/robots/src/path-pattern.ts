/** Everything but what RFC 3986 calls unreserved or reserved (section 2), and what is percent-encoded already. */
const notPlain = /%[\da-f]{2}|[^A-Za-z\d\-._~:/?#[\]@!$&()*+,;=]/giu
const unreserved = /[A-Za-z\d\-._~]/
const encoder = new TextEncoder()

/** What a path has to look like for an `Allow` or a `Disallow` to apply (RFC 9309, sections 2.2.2 and 2.2.3). */
export class PathPattern {
  /** How long it is; of two that match, the longer one decides. */
  readonly octets: number
  /** What has to follow one another, with anything between. */
  readonly #parts: readonly string[]
  readonly #isWhole: boolean

  /** @param text as it is written: `*` stands for anything, `$` at the end for the end, the rest for itself */
  constructor(text: string) {
    const pattern = inOneForm(text)
    this.octets = pattern.length
    this.#isWhole = pattern.endsWith('$')
    const open = this.#isWhole ? pattern.slice(0, -1) : pattern
    this.#parts = open.replaceAll('$', '%24').split('*')
  }

  /**
   * Whether it matches the beginning of `path`, or all of it if it ends in `$`. Takes no longer than one look along the
   * path, whatever the pattern.
   *
   * @param path as `comparablePath` has it
   */
  matches(path: string): boolean {
    const [first = '', ...rest] = this.#parts
    if (!path.startsWith(first)) return false
    const last = rest.length > 0 && this.#isWhole ? (rest.pop() as string) : undefined
    let end = first.length
    for (const part of rest) {
      const start = path.indexOf(part, end)
      if (start < 0) return false
      end = start + part.length
    }
    if (last !== undefined) return path.length - last.length >= end && path.endsWith(last)
    return !this.#isWhole || end === path.length
  }
}

/** Path and query of a URL in the form in which patterns are compared with it. */
export function comparablePath({ href, protocol }: URL): string {
  const start = href.indexOf('/', protocol.length + 2)
  const end = href.indexOf('#', start)
  const path = inOneForm(href.slice(start, end < 0 ? undefined : end))
  return path.replaceAll('*', '%2A').replaceAll('$', '%24')
}

/**
 * Percent-encodes what is not ASCII or has no place in a URL, and decodes what need not be encoded, so that one path
 * is written in one way (RFC 9309, section 2.2.2). Reserved characters are left as they are.
 */
function inOneForm(text: string): string {
  return text.replace(notPlain, (found) => {
    if (found.length < 3) return Array.from(encoder.encode(found), percent).join('')
    const character = String.fromCharCode(Number.parseInt(found.slice(1), 16))
    return unreserved.test(character) ? character : found.toUpperCase()
  })
}

function percent(octet: number): string {
  return `%${octet.toString(16).toUpperCase().padStart(2, '0')}`
}
