import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const run = promisify(execFile)

const failed = (error: { code: number; stdout: string; stderr: string }) => error

/** The program as it is published. The tests are run after a build. */
describe.skipIf(!existsSync(main))('the built program', () => {
  test('simulates, and says warnings in a line of its own, once', async () => {
    const policy = '{"rate":"30r/m","capacity":40}'
    const { stdout, stderr } = await run(process.execPath, [main, 'simulate', '--arrivals', '40@0', '--policy', policy])
    expect(stdout).toMatch(/worst 1 s +40/)
    expect(stderr.match(/hostpace: warning: policy.capacity of 40/g)).toHaveLength(1)
  })

  test.each([
    [0, 2000],
    [1, 2001],
  ])('audits the standard input: code %i', async (code, intervalMs) => {
    const child = spawn(process.execPath, [main, 'audit', '-', '--policy', JSON.stringify({ intervalMs })])
    child.stdin.end('{"ts":1700000000.001}\n{"ts":1700000002.001}\n')
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(code)
  })

  test('explains what is wrong: code 2', async () => {
    const error = await run(process.execPath, [main, 'explain', 'nowhere']).then(() => undefined, failed)
    expect(error).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^hostpace: explain takes a URL/),
    })
  })

  test.skipIf(!existsSync('/dev/full'))('says in one line that its output cannot be written: code 2', async () => {
    const command = `'${process.execPath}' '${main}' simulate --arrivals 1@0 --policy '{"intervalMs":1}' > /dev/full`
    const error = await run('sh', ['-c', command]).then(() => undefined, failed)
    expect(error).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^hostpace: the output cannot be written: .*ENOSPC.*\n$/),
    })
  })

  test('does what the README says of the forty links', async () => {
    const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
    const [, example = ''] = /^```sh\n(npx hostpace simulate [^`]*--html[^`]*)^```$/m.exec(readme) ?? []
    const [, first, second] = /worst second \| (\d+) \| (\d+) /.exec(readme) ?? []
    const folder = await mkdtemp(join(tmpdir(), 'hostpace-cli-'))
    const command = example.replace('npx hostpace', `'${process.execPath}' '${main}'`)
    const { stdout, stderr } = await promisify(execFile)('sh', ['-c', command], { cwd: folder })
    expect(stderr).toBe('')
    expect(stdout).toMatch(new RegExp(`worst 1 s +${first} +${second}\n`))
    expect(await readFile(join(folder, 'forty.html'), 'utf8')).toContain('</svg>')
    await rm(folder, { recursive: true })
  })

  test('knows its version, and shows help where it is asked for nothing', async () => {
    expect((await run(process.execPath, [main, '--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    const error = await run(process.execPath, [main]).then(() => undefined, failed)
    expect(error).toMatchObject({ code: 2, stderr: expect.stringContaining('audit') })
  })
})
