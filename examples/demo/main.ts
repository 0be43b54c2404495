import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createPacer } from '@hostpace/core'
import { type LoggedRequest, readAccessLog } from './access-log.ts'
import { type HostName, hostNames, hosts } from './hosts.ts'
import { judge } from './judge.ts'
import { stampResolution } from './machine-load.ts'
import { picture } from './picture/picture.ts'
import type { HostReport } from './report.ts'
import { reportTable } from './table.ts'
import { latenessOf, type Stall } from './targets/stalls.ts'
import { type StartedTargets, startTargets } from './targets/start-targets.ts'
import { type Visit, visit } from './visit.ts'
import { sumWaits } from './waits.ts'

/** Where the picture and the access logs go. */
const output = fileURLToPath(new URL('../../reports/demo/', import.meta.url))

// With --rude nothing is paced, to show what the targets write down then.
const { values: flags } = parseArgs({ options: { rude: { type: 'boolean', default: false } } })

// Whoever runs this may pass Ctrl-C on to us after the terminal has, so a second one must not cut the tidying up short.
const interrupted = new AbortController()
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => interrupted.abort())

const folder = await mkdtemp(join(tmpdir(), 'hostpace-demo-'))
try {
  const problems = await demo(folder, interrupted.signal)
  process.exitCode = problems.length === 0 ? 0 : 1
} catch (error) {
  if (!interrupted.signal.aborted) throw error
  process.exitCode = 130
} finally {
  await rm(folder, { recursive: true, force: true })
}

/** Crawls the targets and shows what their access logs say. Resolves with what was not as it should be. */
async function demo(folder: string, signal: AbortSignal): Promise<string[]> {
  const targets = await startTargets(folder)
  let stalls: Stall[] = []
  let visited: Visit
  const pacer = createPacer({
    hosts: Object.fromEntries(hostNames.map((name) => [targets.origins[name], hosts[name].policy])),
  })
  try {
    signal.throwIfAborted()
    console.log('Crawling four hosts through got, axios and undici, which share one pacer.\n')
    visited = await visit(targets, pacer, { rude: flags.rude, signal })
  } finally {
    await pacer.close()
    stalls = await targets.stop()
  }
  const queues = pacer.stats().hosts
  const waits = (name: HostName) => sumWaits(queues[targets.origins[name]]?.waits ?? {}, visited.waits[name])
  const { resolutionMs, remark } = stampResolution()
  const reports = await Promise.all(
    hostNames.map(async (name): Promise<HostReport> => {
      const log = await stampedLog(targets.logs[name], stalls)
      const { policy, expectedRefusals } = hosts[name]
      const verdict = judge(log, policy, { expectedRefusals, resolutionMs })
      return { name, ...hosts[name], server: targets.servers[name], log, verdict, waits: waits(name) }
    }),
  )
  const violations = reports.flatMap(({ name, verdict }) => verdict.violations.map((text) => `${name}: ${text}`))
  const problems = [...visited.failures, ...violations]
  await show(reports, problems, targets)
  if (remark !== '') console.log(remark)
  return problems
}

/** An access log that knows which of its stamps may be late. */
async function stampedLog(path: string, stalls: readonly Stall[]): Promise<LoggedRequest[]> {
  const log = await readAccessLog(path)
  return log.map((request) => ({ ...request, lateMs: latenessOf(request.arrivedMs, stalls) }))
}

async function show(reports: HostReport[], problems: string[], { logs }: StartedTargets): Promise<void> {
  await mkdir(output, { recursive: true })
  for (const name of hostNames) await copyFile(logs[name], join(output, `${name}.log`))
  const file = join(output, 'picture.svg')
  await writeFile(file, picture(reports))

  console.log(`\nWhat the targets wrote into their access logs:\n\n${reportTable(reports)}\n`)
  console.log(`The picture is ${relative(process.cwd(), file)}, with the access logs beside it.`)
  for (const problem of problems.slice(0, 20)) console.log(`✖ ${problem}`)
  if (problems.length > 20) console.log(`✖ … and ${problems.length - 20} more`)
  console.log(problems.length === 0 ? '✔ Every host was treated as its policy says.' : '✖ Not as it should be.')
}
