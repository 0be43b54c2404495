import type { ScriptRunner } from './redis-client.ts'
import { script, scriptSha1 } from './script/index.ts'

/**
 * The script on a server, to which it is sent in full when the server does not know it, which it says before it does
 * anything. No run is ever made twice.
 */
export class ServerScript {
  readonly #runner: ScriptRunner
  /** Fulfilled once the run has ended that brings the script to the server. */
  #loading: Promise<unknown> | undefined

  constructor(runner: ScriptRunner) {
    this.#runner = runner
  }

  async run(keys: string[], args: string[]): Promise<unknown> {
    try {
      return await this.#runner.evalSha(scriptSha1, keys, args)
    } catch (error) {
      if (!says(error, 'NOSCRIPT')) throw error
    }
    return this.#runNew(keys, args)
  }

  /** One run brings the script along; those that come meanwhile wait for that, and bring it only where it went elsewhere. */
  async #runNew(keys: string[], args: string[]): Promise<unknown> {
    if (this.#loading !== undefined) {
      await this.#loading
      try {
        return await this.#runner.evalSha(scriptSha1, keys, args)
      } catch (error) {
        if (!says(error, 'NOSCRIPT')) throw error
      }
    }
    const reply = this.#runner.eval(script, keys, args)
    const loading = reply.then(ignore, ignore)
    this.#loading = loading
    try {
      return await reply
    } finally {
      if (this.#loading === loading) this.#loading = undefined
    }
  }
}

/** Whether a server gave this code as the reason. Before Redis 7 that of a failure within a script stands behind a dash. */
export function says(error: unknown, code: string): boolean {
  return error instanceof Error && new RegExp(`(?:^|-)${code} `).test(error.message)
}

function ignore(): void {}
