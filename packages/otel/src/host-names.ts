/** The attributes of all figures of a host; no interface, which would not do as any attributes. */
export type HostAttributes = { readonly 'hostpace.host': string }

/** The attributes by the key of a host. */
export type AttributesOf = (key: string) => HostAttributes

/** The name that all hosts share which have none of their own; it is what the semantic conventions use for "any other". */
const otherHosts = '_OTHER'

/** Keeps the names in figures to a number that a backend can bear: the first hosts keep theirs, the others share one. */
export class HostNames {
  readonly #known = new Set<string>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  nameOf(key: string): string {
    if (this.#known.has(key)) return key
    if (this.#known.size >= this.#max) return otherHosts
    this.#known.add(key)
    return key
  }
}
