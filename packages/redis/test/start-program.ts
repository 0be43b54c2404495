import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Policy } from '@hostpace/core'
import type { SharedStoreOptions } from '@hostpace/core/stores'

/** What a pacing program is started with. */
export interface ProgramPlan {
  readonly url: string
  readonly policy: Policy
  readonly options?: SharedStoreOptions
}

/** What a pacing program is told to do: to send so many or for so long, and then to hold permits and keep them. */
export interface ProgramOrder {
  readonly send?: number
  readonly forMs?: number
  readonly hold?: number
}

/** What a program says. Times are on its own wall clock. */
export type ProgramNews = { readonly kind: 'ready' | 'done' } | { readonly kind: 'departed'; readonly atMs: number }

/** What makes a process see another time than it is, if that is installed. */
export const fakeTime: string | undefined = readdirSync('/usr/lib')
  .map((name) => `/usr/lib/${name}/faketime/libfaketime.so.1`)
  .find((path) => existsSync(path))

/** A process of its own. */
export class StartedProgram {
  readonly #child: ChildProcess
  readonly #news: ProgramNews[] = []
  #whenHeard: () => void = () => {}

  constructor(child: ChildProcess) {
    this.#child = child
    child.on('message', (news: ProgramNews) => {
      this.#news.push(news)
      this.#whenHeard()
    })
    child.once('exit', () => this.#whenHeard())
  }

  /** Waits until it has said so for the `nth` time. */
  async heard(kind: ProgramNews['kind'], nth = 1): Promise<void> {
    while (this.#news.filter((news) => news.kind === kind).length < nth) {
      if (this.#child.exitCode !== null) throw new Error(`it has ended with ${this.#child.exitCode}`)
      await new Promise<void>((resolve) => {
        this.#whenHeard = resolve
      })
    }
  }

  /** Tells it what to do, and waits until it has. @returns when requests left meanwhile, on its wall clock */
  async told(order: ProgramOrder): Promise<number[]> {
    const { length } = this.#news
    const nth = this.#news.filter(({ kind }) => kind === 'done').length + 1
    this.#child.send(order)
    await this.heard('done', nth)
    return this.#news.slice(length).flatMap((news) => (news.kind === 'departed' ? [news.atMs] : []))
  }

  /** Ends it at once, as a crash does. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }
}

/** Starts a process that paces by a server, and sees the time `aheadS` seconds ahead of what it is. */
export async function startPacing(plan: ProgramPlan, aheadS = 0): Promise<StartedProgram> {
  const env = aheadS === 0 ? process.env : { ...process.env, LD_PRELOAD: fakeTime, FAKETIME: signed(aheadS) }
  const program = new StartedProgram(
    fork(fileURLToPath(new URL('pacing-program.ts', import.meta.url)), [JSON.stringify(plan)], {
      execArgv: ['--import', import.meta.resolve('tsx')],
      env,
    }),
  )
  await program.heard('ready')
  return program
}

function signed(seconds: number): string {
  return seconds > 0 ? `+${seconds}s` : `${seconds}s`
}
