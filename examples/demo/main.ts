import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createPacer } from '@hostpace/core'
import { readAccessLog } from './access-log.ts'
import { type HostName, hostNames, hosts } from './hosts.ts'
import { judge } from './judge.ts'
import { picture } from './picture/picture.ts'
import type { HostReport } from './report.ts'
import { reportTable } from './table.ts'
import { type StartedTargets, startTargets } from './targets/start-targets.ts'
import { type Visit, visit } from './visit.ts'
import { sumWaits, type Waits } from './waits.ts'

/** Where the picture and the access logs go. */
const output = fileURLToPath(new URL('../../reports/demo/', import.meta.url))

const { values: flags } = parseArgs({ options: { rude: { type: 'boolean', default: false } } })
// Whoever runs this may pass Ctrl-C on to us after the terminal has, so a second one must not cut the tidying up short.
const interrupted = new AbortController()
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => interrupted.abort())

const folder = await mkdtemp(join(tmpdir(), 'hostpace-demo-'))
try {
  process.exitCode = await demo(folder, interrupted.signal)
} catch (error) {
  if (!interrupted.signal.aborted) throw error
  process.exitCode = 130
} finally {
  await rm(folder, { recursive: true, force: true })
}

/** Crawls the targets and shows what their access logs say. Resolves with the exit code. */
async function demo(folder: string, signal: AbortSignal): Promise<number> {
  const targets = await startTargets(folder)
  const pacer = createPacer({
    hosts: Object.fromEntries(hostNames.map((name) => [targets.origins[name], hosts[name].policy])),
  })
  let visited: Visit
  try {
    signal.throwIfAborted()
    console.log('Crawling four hosts through got, axios and undici, which share one pacer.\n')
    visited = await visit(targets, pacer, { rude: flags.rude, signal })
  } finally {
    await pacer.close()
    await targets.stop()
  }
  const stats = pacer.stats().hosts
  const reports = await Promise.all(
    hostNames.map((name) => {
      const inQueue = stats[targets.origins[name]]?.waits ?? {}
      return report(name, targets, sumWaits(inQueue, visited.waits[name]))
    }),
  )
  const problems = [...visited.failures]
  for (const { name, verdict } of reports) problems.push(...verdict.violations.map((text) => `${name}: ${text}`))
  await show(reports, problems, targets)
  return problems.length === 0 ? 0 : 1
}

async function report(name: HostName, targets: StartedTargets, waits: Waits): Promise<HostReport> {
  const { asks, policy, expectedRefusals } = hosts[name]
  const log = await readAccessLog(targets.logs[name])
  const verdict = judge(log, policy, { expectedRefusals })
  return { name, asks, policy, server: targets.servers[name], log, verdict, waits }
}

async function show(reports: HostReport[], problems: string[], { logs }: StartedTargets): Promise<void> {
  await mkdir(output, { recursive: true })
  for (const name of hostNames) await copyFile(logs[name], join(output, `${name}.log`))
  const file = join(output, 'picture.svg')
  await writeFile(file, picture(reports))

  console.log(`\nWhat the targets wrote into their access logs:\n\n${reportTable(reports)}\n`)
  console.log(`Picture and access logs: ${relative(process.cwd(), file)} and beside it`)
  for (const problem of problems.slice(0, 20)) console.log(`✖ ${problem}`)
  if (problems.length > 20) console.log(`✖ … and ${problems.length - 20} more`)
  console.log(problems.length === 0 ? '✔ Every host was treated as its policy says.' : '✖ Some host was treated worse than its policy says.')
}
