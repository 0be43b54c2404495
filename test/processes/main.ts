/**
 * Eight processes with mixed clients against one nginx that allows as much as the policy: `npm run test:processes`, or
 * `npm run test:processes -- --store sqlite --seconds 10 --processes 4` for less. Through a store that they share nothing
 * may be refused, at 97 % of the rate or more, and each process has to get half of its share or more. Through the memory
 * store each paces for itself, so most is refused.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { hasRedisServer, startRedisServer } from '../../packages/redis/test/redis-server.ts'
import { findProgram } from '../server-limiters/proxies.ts'
import { type NginxResult, runAgainstNginx } from './against-nginx.ts'
import type { StorePlan } from './start-workers.ts'

const kinds = ['sqlite', 'redis', 'memory'] as const
type Kind = (typeof kinds)[number]

const { values } = parseArgs({
  options: {
    store: { type: 'string', multiple: true, default: [...kinds] },
    seconds: { type: 'string', default: '60' },
    processes: { type: 'string', default: '8' },
  },
})
const [seconds, processes] = [Number(values.seconds), Number(values.processes)]
const unknown = values.store.filter((kind) => !kinds.includes(kind as Kind))
if (unknown.length > 0 || !(seconds > 0) || !(processes > 0)) {
  console.error('usage: --store sqlite|redis|memory --seconds 60 --processes 8')
  process.exit(2)
}
const nginx = findProgram('nginx')
if (nginx === undefined) {
  console.log('processes: nginx is not installed, so there is nothing to send to')
  process.exit(0)
}

console.log(`| ${processes} processes, ${seconds} s | passed | refused | of the rate | least share | |`)
console.log('| --- | ---: | ---: | ---: | ---: | --- |')
for (const kind of values.store as Kind[]) {
  if (kind === 'redis' && !hasRedisServer) {
    console.log('| redis | | | | | redis-server is not installed |')
    continue
  }
  const { plan, close } = await openStore(kind)
  try {
    const result = await runAgainstNginx(nginx, processes, plan, seconds * 1000)
    const problems = problemsOf(kind, result)
    const figures = [result.passed, result.refused, percent(result.share), percent(result.least)]
    console.log(`| ${kind} | ${figures.join(' | ')} | ${problems.join('; ') || 'as promised'} |`)
    if (problems.length > 0) process.exitCode = 1
  } finally {
    await close()
  }
}

function problemsOf(kind: Kind, { reports, refused, share, least }: NginxResult): string[] {
  if (kind === 'memory') return refused === 0 ? ['nothing was refused'] : []
  const errors = reports.flatMap((report) => [...report.errors, ...report.storeErrors])
  return [
    ...(refused > 0 ? ['some were refused'] : []),
    ...(share < 0.97 ? ['too slow'] : []),
    ...(least < 0.5 ? ['unfair'] : []),
    ...errors.slice(0, 3),
  ]
}

function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`
}

async function openStore(kind: Kind): Promise<{ plan: StorePlan; close(): unknown }> {
  if (kind === 'memory') return { plan: { kind }, close: () => {} }
  if (kind === 'redis') {
    const { url, close } = await startRedisServer()
    return { plan: { kind, url }, close }
  }
  const folder = mkdtempSync(join(tmpdir(), 'hostpace-processes-'))
  return { plan: { kind, path: join(folder, 'pace.db') }, close: () => rmSync(folder, { recursive: true }) }
}
