import { Readable } from 'node:stream'
import { runProgram } from '../src/program.ts'

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs the command line in this process. */
export async function runCli(args: readonly string[], input: string | Uint8Array = ''): Promise<Ran> {
  let [out, err] = ['', '']
  const code = await runProgram(args, '0.0.0', {
    stdin: Readable.from([Buffer.from(input)]),
    out: (text) => {
      out += text
    },
    err: (text) => {
      err += text
    },
    errIsTerminal: false,
    columns: 80,
  })
  return { code, out, err }
}

/** As `runCli` with `--json`, and what it printed. */
export async function runJson(args: readonly string[], input: string | Uint8Array = '') {
  const { code, out, err } = await runCli([...args, '--json'], input)
  if (out === '') throw new Error(err)
  return { code, report: JSON.parse(out) }
}
