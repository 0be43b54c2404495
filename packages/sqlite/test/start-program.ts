import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Policy } from '@hostpace/core'
import type { SharedStoreOptions } from '@hostpace/core/stores'

/** What a pacing program is started with. */
export interface ProgramPlan {
  readonly path: string
  readonly policy: Policy
  readonly options?: SharedStoreOptions
  /** As whom it runs; root is bound by no permission. */
  readonly user?: number
}

/** What a pacing program is told to do. */
export interface ProgramOrder {
  readonly send?: number
  readonly pauseMs?: number
}

/** What a program says. */
export type ProgramNews =
  | { readonly kind: 'ready' | 'locked' | 'departed' | 'done' }
  | { readonly kind: 'failure' | 'rejected'; readonly text: string }

/** A process of its own. */
export class StartedProgram {
  readonly child: ChildProcess
  /** What it has said so far. */
  readonly news: ProgramNews[] = []
  #whenHeard: () => void = () => {}

  constructor(child: ChildProcess) {
    this.child = child
    child.on('message', (news: ProgramNews) => {
      this.news.push(news)
      this.#whenHeard()
    })
    child.once('exit', () => this.#whenHeard())
  }

  /** Waits until it has said so for the `nth` time. */
  async heard(kind: ProgramNews['kind'], nth = 1): Promise<void> {
    while (this.news.filter((news) => news.kind === kind).length < nth) {
      if (this.child.exitCode !== null) throw new Error(`it has ended with ${this.child.exitCode}`)
      await new Promise<void>((resolve) => {
        this.#whenHeard = resolve
      })
    }
  }

  /** What it was told to do, once all has been tried. @returns what it has said meanwhile */
  async told(order: ProgramOrder): Promise<ProgramNews[]> {
    const { length } = this.news
    const nth = this.news.filter(({ kind }) => kind === 'done').length + 1
    this.child.send(order)
    await this.heard('done', nth)
    return this.news.slice(length).filter(({ kind }) => kind !== 'done')
  }

  /** Ends it at once, as a crash does. */
  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const ended = once(this.child, 'exit')
    this.child.kill('SIGKILL')
    await ended
  }
}

/** Starts a process that paces by the store on a file. */
export async function startPacing(plan: ProgramPlan): Promise<StartedProgram> {
  const program = start('pacing-program.ts', [JSON.stringify(plan)])
  await program.heard('ready')
  return program
}

/** Starts a process that keeps the lock of a file for a while. @returns it, once it has the lock */
export async function startLocking(path: string, keepMs: number): Promise<StartedProgram> {
  const program = start('lock-program.ts', [path, `${keepMs}`])
  await program.heard('locked')
  return program
}

/** Says how many bytes a file may have that a process writes: more is refused, as on a full disk. */
export function limitFiles({ child }: StartedProgram, bytes: number | 'unlimited'): void {
  const { status, stderr } = spawnSync('prlimit', ['--pid', `${child.pid}`, `--fsize=${bytes}:`], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

/** Whether there is a program that limits what others may write. */
export const hasLimits: boolean = spawnSync('prlimit', ['--version']).status === 0

function start(name: string, args: readonly string[]): StartedProgram {
  const program = fileURLToPath(new URL(name, import.meta.url))
  return new StartedProgram(fork(program, args, { execArgv: ['--import', import.meta.resolve('tsx')] }))
}
