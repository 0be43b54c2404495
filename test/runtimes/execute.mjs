import { execFile } from 'node:child_process'
import { join } from 'node:path'

const limitMs = 120_000

/**
 * Runs a program in a folder until it ends by itself, and keeps what it leaves behind in there.
 *
 * @returns what it printed, or in `failure` what came of it
 */
export function execute(program, args, folder) {
  const own = { HOME: folder, DENO_DIR: join(folder, '.deno'), DENO_NO_UPDATE_CHECK: '1', DO_NOT_TRACK: '1' }
  const options = {
    cwd: folder,
    env: { ...process.env, ...own },
    timeout: limitMs,
    killSignal: 'SIGKILL',
    maxBuffer: 2 ** 26,
  }
  return new Promise((resolve) => {
    execFile(program, args, options, (error, printed, complaints) => {
      const reason = error?.killed ? `it has not ended after ${limitMs} ms` : error?.message
      resolve({ printed, failure: error ? `${reason}\n${complaints}` : '' })
    })
  })
}
