import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { createPacer } from '@hostpace/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCli, runJson } from './run-cli.ts'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const run = promisify(execFile)

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
const helps = await Promise.all(['simulate', 'audit', 'explain'].map((command) => runCli([command, '--help'])))

/** All commands that are shown, each on one line. */
const commands = [
  ...[...readme.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, code = '']) => code),
  ...helps.map(({ out }) => out),
]
  .flatMap((text) => text.replaceAll(/\\\n\s*/g, '').split('\n'))
  .map((line) => line.trim().replace(/^npx /, ''))
  .filter((line) => /^(?:zcat \S+ \| )?hostpace (?:simulate|audit|explain) (?!COMMAND|\[)/.test(line))

const line = (second: string, client: string) =>
  `${client} - - [10/Oct/2026:12:00:${second} +0000] "GET / HTTP/1.1" 200 5 "-" "mybot/1.0"\n`

/** What the commands name. */
const files = {
  'policy.json': '{"intervalMs":2000}',
  'access.log': line('00', '192.0.2.1') + line('04', '192.0.2.1'),
  'access.log.1.gz': gzipSync(line('00', '2001:db8::1')),
  'access.log.2.gz': gzipSync(line('04', '2001:db8::1')),
  'session.har': JSON.stringify({
    log: { entries: [{ startedDateTime: '2026-10-10T12:00:00Z', request: { url: 'https://api.example.com/' } }] },
  }),
  'app.jsonl': '{"time":1700000000,"when":1700000000,"target":"https://a.example/","host":"a.example"}\n',
}

/** Hosts that are asked for answer at once, and from here. */
const offline = `data:text/javascript,${encodeURIComponent(
  "globalThis.fetch = async () => new Response('User-agent: *\\nCrawl-delay: 0.01')",
)}`

// The tests are run after a build.
describe.skipIf(!existsSync(main))('commands that are shown work', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hostpace-cli-'))
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
  })
  afterAll(() => rm(folder, { recursive: true }))

  test('there are some of each', () => {
    for (const name of ['simulate', 'audit', 'explain']) {
      expect(commands.filter((command) => command.includes(`hostpace ${name} `)).length).toBeGreaterThan(2)
    }
  })

  test('the policies of several hosts, which a pacer takes too', async () => {
    const [, policies = ''] = /^```json\n(.*?)^```$/ms.exec(readme) ?? []
    await createPacer(JSON.parse(policies)).close()
    const log = ['slow.example', 'other.example']
      .map((host) => JSON.stringify({ time: 1_700_000_000.5, host }))
      .join('\n')
    const { code, report } = await runJson(['audit', '-', '--policy', policies], log)
    expect(code).toBe(0)
    expect(report.hosts).toMatchObject([{ policy: { rate: '5r/s', intervalMs: 10_000 } }, { policy: { rate: '5r/s' } }])
  })

  test.each(commands)('%s', async (command) => {
    const shell = command.replace('hostpace', `'${process.execPath}' '${main}'`)
    const env = { ...process.env, NODE_OPTIONS: `--import=${offline}` }
    // A code other than 0 rejects.
    const { stdout, stderr } = await run('sh', ['-c', shell], { cwd: folder, env })
    expect(stderr).toBe('')
    expect(stdout).not.toBe('')
    if (command.includes('--json')) JSON.parse(stdout)
  })
})
