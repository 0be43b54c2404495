import { Command, CommanderError, Option } from 'commander'
import { type AuditOptions, auditCommand } from './commands/audit-command.ts'
import { type ExplainOptions, explainCommand } from './commands/explain-command.ts'
import { type SimulateOptions, simulateCommand } from './commands/simulate-command.ts'
import { CliError, messageOf } from './errors.ts'
import type { Io } from './io.ts'
import { logFormats } from './logs/read-log.ts'
import { printableLines } from './printable.ts'

/** What the exit code tells. */
const codes = `

Exit codes: 0 done, or honoured; 1 a policy was violated; 2 the input or the usage is wrong.`

const simulateExamples = `
Examples:
  Forty links found at once on a host with Crawl-delay 2, under two rules of the same average:
    hostpace simulate --arrivals 40@0 --policy 'leaky={"intervalMs":2000}' \\
      --policy 'tokens={"rate":"30r/m","capacity":40,"justification":"to compare"}'
  Random arrivals for ten minutes, as a page:
    hostpace simulate --policy policy.json --arrivals poisson:5/s --span 10m --html out.html
  What a policy would have made of yesterday's traffic:
    hostpace simulate --policy policy.json --arrivals access.log`

const auditExamples = `
Examples:
  hostpace audit access.log --policy policy.json --user-agent mybot
  zcat access.log.*.gz | hostpace audit - --policy '{"intervalMs":2000}' --client 2001:db8::/32
  hostpace audit session.har --policy policy.json --host api.example.com --json
  hostpace audit app.jsonl --policy policy.json --time-field when --host-field target
  Each host by its own policy, and the others by the one for all:
    hostpace audit app.jsonl --policy \\
      '{"rate":"5r/s","hosts":{"https://slow.example":{"intervalMs":10000}}}'`

const explainExamples = `
Examples:
  hostpace explain https://example.com/
  hostpace explain https://api.github.com/ --user-agent 'mybot/1.0 (+https://my.example/bot)' --json`

/**
 * Runs the command line.
 *
 * @param args what follows the name of the program
 * @returns the exit code
 */
export async function runProgram(args: readonly string[], version: string, io: Io): Promise<number> {
  let code = 0
  const program = new Command('hostpace')
    .description('Paces requests per target host: draws what a policy does, and judges logs by it.')
    .version(version)
    .addHelpText('after', `${codes}\nhostpace COMMAND --help shows examples.`)
    // Options that are set on the program after its commands were made do not reach them.
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.out(text),
      writeErr: (text) => io.err(text),
      getOutHelpWidth: () => io.columns,
    })
  const done = (result: number) => {
    code = result
  }
  addSimulate(program, io, done)
  addAudit(program, io, done)
  addExplain(program, io, done)
  for (const command of program.commands) refuseRepeats(command)
  try {
    await program.parseAsync([...args], { from: 'user' })
    return code
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (!isMistake(error)) throw error
    io.err(printableLines([`hostpace: ${messageOf(error)}`]))
    return 2
  }
}

/** Whether an error is about what was asked for, and not about this program. */
function isMistake(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return error instanceof CliError || (typeof code === 'string' && code.startsWith('ERR_HOSTPACE_'))
}

/** Commander lets the last of several values count, and nobody would notice the others. */
function refuseRepeats(command: Command): void {
  for (const option of command.options) {
    if (!option.required || option.parseArg === collected) continue
    let isGiven = false
    command.on(`option:${option.name()}`, () => {
      if (isGiven) throw new CliError(`${option.long} is given twice`)
      isGiven = true
    })
  }
}

/** Keeps all values of an option that may be given several times. */
function collected(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value]
}

function addSimulate(program: Command, io: Io, done: (code: number) => void): void {
  program
    .command('simulate')
    .description('draws when requests leave under a policy, or under several side by side')
    .addOption(
      new Option(
        '--policy <file|json>',
        'the policy of one host, [name=]file or [name=]{...}; again for each to compare',
      )
        .argParser(collected)
        .makeOptionMandatory(),
    )
    .requiredOption(
      '--arrivals <when>',
      'when requests are asked for: 40@0, 40@0,10@5s, poisson:5/s, or a file of times or dates or a log',
    )
    .option('--span <time>', 'how long random arrivals go on', '60s')
    .option('--seed <number>', 'what random arrivals start from', '1')
    .option('--window <time>', 'the length of the worst window', '1s')
    .option('--svg <file>', 'writes the chart as SVG')
    .option('--html <file>', 'writes chart, figures and policies as a page of their own')
    .option('--json', 'prints every departure and the figures as JSON')
    .addHelpText('after', simulateExamples + codes)
    .action(async (options: SimulateOptions) => done(await simulateCommand(options, io)))
}

function addAudit(program: Command, io: Io, done: (code: number) => void): void {
  program
    .command('audit')
    .description('says whether the traffic in a log honoured a policy, as the target saw it')
    .argument('<log>', 'combined log format, JSON lines or HAR, also as gzip; - is the standard input')
    .requiredOption(
      '--policy <file|json>',
      'what each host in the log is held to, with "hosts" for single ones, as createPacer takes it',
    )
    .addOption(new Option('--format <format>', 'what the log is written in').choices(logFormats).default('auto'))
    .option('--host <host>', 'looks at requests to this host only')
    .option('--client <address>', 'looks at requests from this address or network only')
    .option('--user-agent <text>', 'looks at requests only whose user agent has this in it')
    .option('--time-field <name>', 'JSON lines: the field of the time')
    .option('--duration-field <name>', 'JSON lines: seconds to take off, where the time is that of the answer')
    .option('--host-field <name>', 'JSON lines: the field of the host or the URL')
    .option('--client-field <name>', 'JSON lines: the field of the address of the client')
    .option('--agent-field <name>', 'JSON lines: the field of the user agent')
    .option('--resolution <time>', 'how fine the stamps of the log are (default: as its first thousand look)')
    .option('--tolerance <time>', 'how much nearer than declared is let pass, for the jitter of a network', '0ms')
    .option('--reorder <time>', 'how far out of order the log may be, or all, which keeps all of it in memory', '5m')
    .option('--show <count>', 'how many violations of a host are listed', '20')
    .option('--skip-unreadable', 'leaves out lines or entries that cannot be read, and counts them')
    .option('--json', 'prints what was found as JSON')
    .addHelpText('after', auditExamples + codes)
    .action(async (log: string, options: AuditOptions) => done(await auditCommand(log, options, io)))
}

function addExplain(program: Command, io: Io, done: (code: number) => void): void {
  program
    .command('explain')
    .description(
      "turns a host's robots.txt and headers into the policy that would apply, and says where each part came from",
    )
    .argument('<url>', 'a URL of the host')
    .option('--user-agent <name>', 'the name of the crawler', 'hostpace')
    .addOption(new Option('--method <method>', 'how the URL is asked for').choices(['HEAD', 'GET']).default('HEAD'))
    .option('--timeout <time>', 'how long a request may take', '10s')
    .option('--json', 'prints what was found as JSON')
    .addHelpText('after', explainExamples + codes)
    .action(async (url: string, options: ExplainOptions) => done(await explainCommand(url, options, io)))
}
