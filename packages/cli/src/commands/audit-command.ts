import type { Quota } from '@hostpace/core'
import { HostAudit, type HostVerdict, type Violation } from '../audit.ts'
import { durationOption, rounded, showDuration } from '../durations.ts'
import { CliError, InputError } from '../errors.ts'
import { type HostPolicies, readHostPolicies } from '../host-policies.ts'
import type { Io } from '../io.ts'
import { inOrder, sampleResolution } from '../logs/in-order.ts'
import { type LogFormat, readLog } from '../logs/read-log.ts'
import { printableLines } from '../printable.ts'
import { RequestFilter } from '../request-filter.ts'

export interface AuditOptions {
  readonly policy: string
  readonly format: LogFormat
  readonly host?: string
  readonly client?: string
  readonly userAgent?: string
  readonly timeField?: string
  readonly durationField?: string
  readonly hostField?: string
  readonly clientField?: string
  readonly agentField?: string
  readonly resolution?: string
  readonly tolerance: string
  readonly reorder: string
  readonly show: string
  readonly skipUnreadable?: boolean
  readonly json?: boolean
}

/** What an audit found, as `--json` prints it. */
interface AuditReport {
  readonly log: string
  readonly format: LogFormat
  readonly honoured: boolean
  /** How fine the stamps of the log are, in milliseconds. */
  readonly resolutionMs: number
  readonly toleranceMs: number
  readonly requests: number
  readonly unreadable: number
  readonly notJudged: readonly string[]
  readonly hosts: readonly HostVerdict[]
}

/** `hostpace audit`: exit code 0 if each host in the log was treated by its policy, 1 if one was not. */
export async function auditCommand(path: string, options: AuditOptions, io: Io): Promise<number> {
  const report = await audit(path, await readHostPolicies(options.policy), options, io)
  io.out(printableLines(options.json ? [JSON.stringify(report)] : linesOf(report)))
  return report.honoured ? 0 : 1
}

async function audit(path: string, policyOf: HostPolicies, options: AuditOptions, io: Io): Promise<AuditReport> {
  const filter = new RequestFilter(options)
  const toleranceMs = durationOption('--tolerance', options.tolerance)
  const reorderMs = options.reorder === 'all' ? Number.POSITIVE_INFINITY : durationOption('--reorder', options.reorder)
  const mostShown = countOption('--show', options.show)
  const given = options.resolution === undefined ? undefined : durationOption('--resolution', options.resolution, 1e-3)
  const file = path === '-' ? 'stdin' : path
  const log = readLog(
    path,
    { format: options.format, fields: fieldsOf(options), skipUnreadable: options.skipUnreadable },
    io,
  )
  const sample = await sampleResolution(log.entries)
  const resolutionMs = given ?? sample.resolutionMs
  const audits = new Map<string, HostAudit>()
  let requests = 0
  for await (const entries of inOrder(sample.entries, file, reorderMs)) {
    for (const entry of entries) {
      if (!filter.takes(entry)) continue
      requests++
      const { host = '' } = entry
      let hostAudit = audits.get(host)
      if (hostAudit === undefined) {
        hostAudit = new HostAudit(host, policyOf(entry.host), resolutionMs + toleranceMs, entry, mostShown)
        audits.set(host, hostAudit)
      }
      hostAudit.take(entry)
    }
  }
  if (requests === 0) throw new InputError({ file }, filter.whyNone())
  const hosts = [...audits.values()].map((hostAudit) => hostAudit.verdict()).sort((a, b) => b.violations - a.violations)
  if (hosts.every(({ rules }) => rules.length === 0)) throw new CliError(noneJudged(file, hosts))
  return {
    ...{ log: file, format: log.format, resolutionMs, toleranceMs, requests, unreadable: log.unreadable },
    honoured: hosts.every(({ honoured }) => honoured),
    notJudged: hosts.some(({ policy }) => policy.concurrency !== undefined) ? ['concurrency'] : [],
    hosts,
  }
}

function noneJudged(file: string, hosts: readonly HostVerdict[]): string {
  const names = hosts.slice(0, 3).map(({ host }) => (host === '' ? 'unnamed hosts' : host))
  const more = hosts.length > names.length ? ' and others' : ''
  return `--policy says nothing of the hosts in ${file}: ${names.join(', ')}${more}`
}

function fieldsOf({ timeField, durationField, hostField, clientField, agentField }: AuditOptions) {
  return { time: timeField, duration: durationField, host: hostField, client: clientField, userAgent: agentField }
}

function countOption(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new CliError(`${name} must be a whole number, got '${text}'`)
}

function linesOf(report: AuditReport): string[] {
  const { log, format, requests, resolutionMs, toleranceMs, unreadable, notJudged, hosts, honoured } = report
  const unit = format === 'har' ? 'entry' : 'line'
  const tolerance = toleranceMs > 0 ? ` and ${showDuration(toleranceMs)} of tolerance` : ''
  const broken = hosts.reduce((sum, { violations }) => sum + violations, 0)
  return [
    `${log}: ${counted(requests, 'request')} (${format}), stamped to ${showDuration(resolutionMs)}${tolerance}`,
    'A request came at its stamp or less than that later; a rule is broken where no such moments would keep it.',
    ...(unreadable > 0 ? [`${counted(unreadable, unit)} could not be read, and left out.`] : []),
    ...notJudged.map((field) => `${field} is not judged: a log does not tell.`),
    ...(hosts.some(({ policy }) => policy.quotas?.some(isCounter)) ? [counterNote] : []),
    ...hosts.flatMap((host) => hostLines(host, unit)),
    '',
    honoured ? 'The policy was honoured.' : `The policy was NOT honoured: ${counted(broken, 'violation')}.`,
  ]
}

const counterNote =
  "A quota of window 'counter' is judged as a ceiling on every window; its limiter may let a little more out."

function isCounter({ window }: Quota): boolean {
  return window === 'counter'
}

function hostLines(verdict: HostVerdict, unit: string): string[] {
  const { host, requests, firstAtMs, lastAtMs, averagePerSecond, rules, shown, violations } = verdict
  const average = averagePerSecond === null ? 'all at once' : `${rounded(averagePerSecond)}/s on average`
  const span = `${new Date(firstAtMs).toISOString()} to ${new Date(lastAtMs).toISOString()}`
  const more = violations - shown.length
  return [
    '',
    `${host === '' ? 'No host named' : host}: ${counted(requests, 'request')} from ${span}, ${average}`,
    ...(rules.length === 0 ? ['  not judged: the policy says nothing of this host'] : []),
    ...rules.map(({ rule, violations: count, worst }) => {
      const state = count === 0 ? 'kept' : `BROKEN ${counted(count, 'time')}`
      const most = worst === null ? '' : `; worst: ${spanText(worst, unit)}`
      return `  ${rule}: ${state}${most}`
    }),
    ...shown.map((violation) => `  ${unit} ${violation.lastLine}: ${violationText(violation, unit)}`),
    ...(more > 0 ? [`  and ${more} more (--show ${violations} shows all)`] : []),
  ]
}

function counted(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : pluralOf(noun)}`
}

function pluralOf(noun: string): string {
  return noun === 'entry' ? 'entries' : `${noun}s`
}

function spanText(
  { firstLine, lastLine, count, permitted, withinMs }: Violation | (HostVerdict['rules'][0]['worst'] & {}),
  unit: string,
): string {
  const where = firstLine === lastLine ? `${unit} ${firstLine}` : `${pluralOf(unit)} ${firstLine} to ${lastLine}`
  return `${count} in less than ${showDuration(withinMs)}, ${permitted} permitted (${where})`
}

function violationText(violation: Violation, unit: string): string {
  const { rule, count, permitted, withinMs, firstLine, atMs } = violation
  const most = `${permitted} ${permitted === 1 ? 'is' : 'are'} permitted`
  const span = `request ${count} in less than ${showDuration(withinMs)} since ${unit} ${firstLine}, where ${most}`
  return `${new Date(atMs).toISOString()} ${span} (${rule})`
}
