import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type RedisServer, startRedis } from '../lib/redis-server.ts'
import { startHosts } from './hosts.ts'
import type { Peer, Setup } from './peer.ts'
import type { Host, Situation, Verdict } from './situation.ts'

/** What a process is told of its part, as JSON. */
export interface Part {
  readonly situation: string
  readonly peer: string
  readonly setup: Setup
  readonly origins: readonly string[]
  readonly warmUpOrigin: string
  readonly round: number
}

/** Each process asks it once before it starts, so that what is loaded late with the first request disturbs no play. */
const warmUpHost: Host = { limits: { intervalMs: 1 } }
const program = fileURLToPath(new URL('./play.js', import.meta.url))
/** A busy machine takes long to load what a program needs; that is not part of the play. */
const loadLimitMs = 60_000
/** Longer than any play takes. What runs on after this is ended, and judged by what was seen until then. */
const playLimitMs = 12_000

/**
 * Plays a situation with a peer: the hosts here, the program in processes of its own.
 *
 * @returns the verdict of the hosts, or why the peer cannot play
 */
export async function runCell(situation: Situation, peer: Peer): Promise<Verdict | string> {
  const redis = situation.needs && (await startRedis())
  const folder = mkdtempSync(join(tmpdir(), 'hostpace-scoreboard-'))
  try {
    const cannot = situation.needs && peer.cannot(situation.needs, redis?.port)
    return cannot ?? (await play(situation, peer, folder, redis))
  } finally {
    redis?.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function play(situation: Situation, peer: Peer, folder: string, redis: RedisServer | undefined) {
  const declared = [...situation.hosts(), warmUpHost]
  const { origins: all, visits: log, close } = await startHosts(declared)
  const origins = all.slice(0, -1)
  const warmUpOrigin = all.at(-1) as string
  const setup: Setup = {
    hosts: Object.fromEntries(declared.map(({ limits }, host) => [all[host] as string, limits])),
    retries: situation.retries ?? false,
    caches: situation.caches ?? false,
    shared: situation.needs && { path: join(folder, 'pace.db'), redisPort: redis?.port },
  }
  try {
    for (const [round, processes] of (situation.processes ?? [1]).entries()) {
      await runProcesses(processes, { situation: situation.name, peer: peer.name, setup, origins, warmUpOrigin, round })
    }
    const endedMs = performance.now()
    const visits = log.filter(({ host }) => host < origins.length)
    return visits.length === 0 ? { passed: false, seen: 'nothing came' } : situation.judge({ visits, endedMs })
  } finally {
    close()
  }
}

/** Runs them at once; they start together, when all have loaded what they need. */
async function runProcesses(count: number, part: Part): Promise<void> {
  const children = Array.from({ length: count }, () => fork(program, [JSON.stringify(part)]))
  const ended = children.map((child) => once(child, 'exit'))
  const ready = children.map((child, index) => Promise.race([once(child, 'message'), ended[index]]))
  let timer = setTimeout(() => killAll(children), loadLimitMs)
  try {
    await Promise.all(ready)
    clearTimeout(timer)
    timer = setTimeout(() => killAll(children), playLimitMs)
    for (const child of children) if (child.connected) child.send('go')
    await Promise.all(ended)
  } finally {
    clearTimeout(timer)
    killAll(children)
  }
}

function killAll(children: readonly ChildProcess[]): void {
  for (const child of children) child.kill('SIGKILL')
}
