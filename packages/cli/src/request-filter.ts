import { BlockList, isIP } from 'node:net'
import { CliError } from './errors.ts'
import { hostOf } from './logs/hosts.ts'
import type { LogEntry } from './logs/log-entry.ts'

/** Which requests of a log are looked at. */
export interface FilterOptions {
  /** A host, or a URL of it. */
  readonly host?: string | undefined
  /** An address, or a network such as `192.0.2.0/24` or `2001:db8::/32`. */
  readonly client?: string | undefined
  /** What the user agent has in it, in any case. */
  readonly userAgent?: string | undefined
}

/** Whether what a request has in a field is wanted. */
type Condition = (value: string) => boolean

/** What each option is called, and what it makes of its value. */
const kinds = {
  host: { name: 'host', conditionOf: hostCondition },
  client: { name: 'client', conditionOf: clientCondition },
  userAgent: { name: 'user-agent', conditionOf: agentCondition },
} as const
const fields = Object.keys(kinds) as (keyof typeof kinds)[]

/** Takes the requests of a log that are to be looked at, and knows why there are none if there are none. */
export class RequestFilter {
  readonly #options: FilterOptions
  readonly #conditions = new Map<keyof typeof kinds, Condition>()
  /** Which of the fields that are looked at the log does not have. */
  readonly #unnamed: Set<keyof typeof kinds>
  #requests = 0

  /** @throws {CliError} if `host` is no host, or `client` no address and no network */
  constructor(options: FilterOptions) {
    this.#options = options
    for (const field of fields) {
      const text = options[field]
      if (text !== undefined) this.#conditions.set(field, kinds[field].conditionOf(text))
    }
    this.#unnamed = new Set(this.#conditions.keys())
  }

  takes(entry: LogEntry): boolean {
    this.#requests++
    let isTaken = true
    for (const [field, isWanted] of this.#conditions) {
      const value = entry[field]
      if (value !== undefined) this.#unnamed.delete(field)
      if (value === undefined || !isWanted(value)) isTaken = false
    }
    return isTaken
  }

  /** Why none was taken, once all have been looked at. */
  whyNone(): string {
    if (this.#requests === 0) return 'has no request to look at'
    const asked = [...this.#conditions.keys()].map((field) => `--${kinds[field].name} '${this.#options[field]}'`)
    const lacks = [...this.#unnamed].map((field) => `; it has no ${kinds[field].name}`)
    return `has no request for ${asked.join(' and ')} among ${this.#requests}${lacks.join('')}`
  }
}

function hostCondition(text: string): Condition {
  const wanted = hostOf(text)
  if (wanted === undefined) throw new CliError(`--host must be a host such as a.example:8080 or its URL, got '${text}'`)
  return (host) => host === wanted
}

function agentCondition(text: string): Condition {
  const wanted = text.toLowerCase()
  return (userAgent) => userAgent.toLowerCase().includes(wanted)
}

function clientCondition(text: string): Condition {
  const [address = '', bits, ...rest] = text.split('/')
  const family = familyOf(address)
  const most = family === 'ipv4' ? 32 : 128
  const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN
  if (family === undefined || rest.length > 0 || !(prefix <= most)) {
    throw new CliError(
      `--client must be an address such as 192.0.2.7, or a network such as 2001:db8::/32, got '${text}'`,
    )
  }
  const list = new BlockList()
  list.addSubnet(address, prefix, family)
  return (other) => {
    const otherFamily = familyOf(other)
    return otherFamily !== undefined && list.check(other, otherFamily)
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(address) as 0 | 4 | 6
  return version === 0 ? undefined : `ipv${version}`
}
