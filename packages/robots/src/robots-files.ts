import type { PolicyLookup } from '@hostpace/core'
import { type Found, fetchRobots } from './fetch-robots.ts'
import { allDisallowed, noRules, parseRobots, type RobotsRules } from './parse-robots.ts'
import type { Settings } from './robots-options.ts'

/** What is known of the robots.txt of one origin. */
export interface RobotsFile {
  readonly rules: RobotsRules
  /** Why the rules are not known; `undefined` if they are, be it by an earlier copy. */
  readonly unreachable: { readonly cause: unknown } | undefined
  /** How often in a row it could not be had. */
  readonly failures: number
  /** When it is to be asked for again. */
  readonly dueAtMs: number
}

/** How long a copy is used (RFC 9309, section 2.4). */
const keepMs = 24 * 3_600_000
/** How long after the first failure it is tried again; twice as long each time, up to `keepMs`. */
const retryMs = 60_000
/** Of more origins than this, those are forgotten that were asked about longest ago. */
const mostFiles = 10_000

/** The robots.txt files of the origins that a pacer asks, each asked for once at a time, through that pacer. */
export class RobotsFiles {
  readonly #settings: Settings
  /** By origin, the one that was used last at the end. */
  readonly #files = new Map<string, RobotsFile>()
  readonly #loads = new Map<string, Promise<RobotsFile>>()
  #lookup: PolicyLookup | undefined

  constructor(settings: Settings) {
    this.#settings = settings
  }

  now(): number {
    return this.#lookup?.now() ?? 0
  }

  /** Remembers how to ask the pacer. */
  askThrough(lookup: PolicyLookup): void {
    this.#lookup = lookup
  }

  /**
   * The file of an origin, asked for if need be.
   *
   * @throws {Error} if there is no pacer yet to ask through
   */
  async of(origin: string): Promise<RobotsFile> {
    const known = this.#fresh(origin)
    if (known !== undefined) return known
    if (this.#lookup !== undefined) return this.#loaded(origin, this.#lookup)
    throw new Error(
      'No pacer has used this robots() yet, so there is none to ask through: `await pacer.peek(url)` first',
    )
  }

  #fresh(origin: string): RobotsFile | undefined {
    const file = this.#files.get(origin)
    if (file === undefined || this.now() >= file.dueAtMs) return undefined
    this.#keep(origin, file)
    return file
  }

  #loaded(origin: string, lookup: PolicyLookup): Promise<RobotsFile> {
    const underWay = this.#loads.get(origin)
    if (underWay !== undefined) return underWay
    const load = this.#load(origin, lookup).finally(() => this.#loads.delete(origin))
    this.#loads.set(origin, load)
    return load
  }

  async #load(origin: string, lookup: PolicyLookup): Promise<RobotsFile> {
    const found = await fetchRobots(origin, lookup, this.#settings).catch((cause): Found => {
      // Refused by the pacer, and without a copy to go by there is nothing to say but what the pacer says.
      if (!this.#hasCopy(origin)) throw cause
      return { kind: 'unreachable', cause }
    })
    const file = this.#fileOf(found, this.#files.get(origin))
    this.#keep(origin, file)
    return file
  }

  #fileOf(found: Found, former: RobotsFile | undefined): RobotsFile {
    const nowMs = this.now()
    if (found.kind !== 'unreachable') {
      const rules = found.kind === 'none' ? noRules : parseRobots(found.text, this.#settings.productToken)
      return { rules, unreachable: undefined, failures: 0, dueAtMs: nowMs + keepMs }
    }
    const failures = (former?.failures ?? 0) + 1
    const dueAtMs = nowMs + Math.min(keepMs, retryMs * 2 ** (failures - 1))
    const hasCopy = former !== undefined && former.unreachable === undefined
    const rules = hasCopy ? former.rules : allDisallowed
    return { rules, unreachable: hasCopy ? undefined : { cause: found.cause }, failures, dueAtMs }
  }

  #hasCopy(origin: string): boolean {
    const file = this.#files.get(origin)
    return file !== undefined && file.unreachable === undefined
  }

  /** Puts a file at the end, and forgets the one that was not used for longest if there are too many. */
  #keep(origin: string, file: RobotsFile): void {
    this.#files.delete(origin)
    this.#files.set(origin, file)
    const [oldest] = this.#files.keys()
    if (this.#files.size > mostFiles && oldest !== undefined) this.#files.delete(oldest)
  }
}
