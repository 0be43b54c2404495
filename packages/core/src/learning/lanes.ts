import type { Pacer } from '../pacer.ts'

/** How many paths of one host are told apart; forgetting all is simple, and what is learned again is right again. */
const mostPaths = 1000

/**
 * The resources of hosts that count each of them apart, such as GitHub its search: requests for one whose budget is used
 * up wait, and others pass.
 *
 * Which resource a request is for shows only in its answer, so it is taken to be that of the last answer whose path began
 * the same. A resource is paced by a pacer of its own kind, and its requests then wait for their host as all do.
 */
export class Lanes {
  readonly #makePacer: () => Pacer
  #pacer: Pacer | undefined
  /** By host and the first part of the path: the key of the lane. */
  readonly #lanes = new Map<string, Map<string, string>>()
  /** By lane. */
  readonly #underWay = new Map<string, number>()

  /** @param makePacer makes the pacer of the resources, when the first one shows */
  constructor(makePacer: () => Pacer) {
    this.#makePacer = makePacer
  }

  /** The pacer of the resources; there is none as long as no host has any. */
  get pacer(): Pacer | undefined {
    return this.#pacer
  }

  /** The key by which a URL of a host is paced beside that of the host, if its resource is known. */
  laneOf(key: string, url: string | URL): string | undefined {
    return this.#lanes.size === 0 ? undefined : this.#lanes.get(key)?.get(pathStart(url))
  }

  /** The keys of all that are known of a host. */
  lanesOf(key: string): ReadonlySet<string> {
    return new Set(this.#lanes.get(key)?.values())
  }

  /** An answer tells which resource its URL is of. @returns the key of its lane */
  assign(key: string, url: string | URL, resource: string): string {
    this.#pacer ??= this.#makePacer()
    const lane = `${key} ${resource}`
    const paths = this.#lanes.get(key) ?? new Map<string, string>()
    if (paths.size >= mostPaths) paths.clear()
    this.#lanes.set(key, paths.set(pathStart(url), lane))
    return lane
  }

  /** How many have had their leave of a lane and wait for their host now. */
  underWay(lane: string): number {
    return this.#underWay.get(lane) ?? 0
  }

  entered(lane: string): void {
    this.#underWay.set(lane, this.underWay(lane) + 1)
  }

  left(lane: string): void {
    const left = this.underWay(lane) - 1
    if (left > 0) this.#underWay.set(lane, left)
    else this.#underWay.delete(lane)
  }

  forget(key: string): void {
    this.#lanes.delete(key)
  }
}

/** `/search` of `https://api.github.com/search/code?q=x`. */
function pathStart(url: string | URL): string {
  const { pathname } = typeof url === 'string' ? new URL(url) : url
  const end = pathname.indexOf('/', 1)
  return end < 0 ? pathname : pathname.slice(0, end)
}
