import { crawlDelayMs, requestRateMs } from './crawl-delay.ts'
import { comparablePath, PathPattern } from './path-pattern.ts'

/** What a robots.txt says to one crawler. */
export interface RobotsRules {
  /** Milliseconds between two requests; `undefined` if it asks for no gap. Above 0 and finite. */
  readonly delayMs: number | undefined
  /** Whether it lets the crawler ask for this URL of its host. */
  allows(url: URL): boolean
}

interface Rule {
  readonly pattern: PathPattern
  readonly isAllowed: boolean
}

/** The rules of all groups that name the same crawler (RFC 9309, section 2.2.1: they are one group). */
interface Group {
  readonly rules: Rule[]
  delayMs: number | undefined
}

/** No rules and no gap: what a host says that has no robots.txt. */
export const noRules: RobotsRules = { delayMs: undefined, allows: () => true }

/** Nothing may be asked for, as long as a host cannot say what may (RFC 9309, section 2.3.1.4). */
export const allDisallowed: RobotsRules = { delayMs: undefined, allows: () => false }

/**
 * Reads a robots.txt (RFC 9309, section 2.2) and what it says to one crawler. It takes any text and never throws.
 *
 * The group that names the crawler counts, or the one that names most of it (`mybot` for `mybot-news`), or else that
 * for `*`. `Crawl-delay` and `Request-rate`, which the RFC does not know, belong to their group as rules do; the
 * longest gap of a group counts.
 *
 * @param text the file, with or without a byte-order mark, and lines that end in CRLF, CR or LF
 * @param productToken the name of the crawler, such as `mybot`
 */
export function parseRobots(text: string, productToken: string): RobotsRules {
  const groups = new Map<string, Group>()
  const name = productToken.toLowerCase()
  let current = new Set<Group>()
  let isNaming = false
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [field, value] = directiveOf(line)
    if (field === 'user-agent') {
      if (!isNaming) current = new Set()
      isNaming = true
      const named = agentOf(value)
      if (mayMean(named, name)) current.add(groupOf(groups, named))
    } else if (field !== undefined) {
      isNaming = false
      for (const group of current) applies(group, field, value)
    }
  }
  return rulesOf(bestOf(groups))
}

type Field = 'user-agent' | 'allow' | 'disallow' | 'crawl-delay' | 'request-rate'

/** The fields that count, less what people write between their words. The others mean nothing here. */
const fields: ReadonlyMap<string, Field> = new Map([
  ['useragent', 'user-agent'],
  ['allow', 'allow'],
  ['disallow', 'disallow'],
  ['crawldelay', 'crawl-delay'],
  ['requestrate', 'request-rate'],
])

/** The field and the value of a line without its comment. The colon may be missing. */
function directiveOf(line: string): [field: Field | undefined, value: string] {
  const [text = ''] = line.split('#', 1)
  const trimmed = text.trim()
  for (const end of [trimmed.indexOf(':'), trimmed.search(/\s/)]) {
    const field =
      end < 0
        ? undefined
        : fields.get(
            trimmed
              .slice(0, end)
              .toLowerCase()
              .replace(/[\s_-]/g, ''),
          )
    if (field !== undefined) return [field, trimmed.slice(end + 1).trim()]
  }
  return [undefined, '']
}

/** The crawler that a `User-agent` line names: less its version, and whatever else it is followed by. */
function agentOf(value: string): string {
  return /^(?:\*|[\w-]+(?:\.[\w-]+)*)/.exec(value)?.[0].toLowerCase() ?? ''
}

/** Whether a crawler's group may be the one for `name`: it is its own, that of its family, or that of all. */
function mayMean(agent: string, name: string): boolean {
  if (agent === '*' || agent === name) return true
  return agent !== '' && name.startsWith(agent) && /[_-]/.test(name.charAt(agent.length))
}

function groupOf(groups: Map<string, Group>, agent: string): Group {
  const known = groups.get(agent)
  if (known !== undefined) return known
  const group: Group = { rules: [], delayMs: undefined }
  groups.set(agent, group)
  return group
}

function applies(group: Group, field: Field, value: string): void {
  if (field === 'crawl-delay' || field === 'request-rate') {
    const delayMs = field === 'crawl-delay' ? crawlDelayMs(value) : requestRateMs(value)
    if (delayMs !== undefined) group.delayMs = Math.max(group.delayMs ?? 0, delayMs)
  } else if (value !== '') {
    group.rules.push({ pattern: new PathPattern(value), isAllowed: field === 'allow' })
  }
}

/** Of the names that may mean a crawler, `*` is the least and the longest other one the most specific. */
function bestOf(groups: Map<string, Group>): Group | undefined {
  const specific = [...groups.keys()].filter((agent) => agent !== '*').sort((a, b) => b.length - a.length)
  return groups.get(specific[0] ?? '*')
}

function rulesOf(group: Group | undefined): RobotsRules {
  if (group === undefined) return noRules
  // The longest pattern that matches decides, and of two equally long ones that which allows.
  const rules = group.rules.sort(
    (a, b) => b.pattern.octets - a.pattern.octets || Number(b.isAllowed) - Number(a.isAllowed),
  )
  return {
    delayMs: group.delayMs,
    allows(url) {
      const path = comparablePath(url)
      return rules.find(({ pattern }) => pattern.matches(path))?.isAllowed ?? true
    },
  }
}
