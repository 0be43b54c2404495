import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const run = promisify(execFile)

/** What a user can import. Here the names lead to the sources, by the aliases of the tests' configuration. */
const entries: Readonly<Record<string, () => Promise<object>>> = {
  '@hostpace/core': () => import('@hostpace/core'),
  '@hostpace/core/testing': () => import('@hostpace/core/testing'),
  '@hostpace/got': () => import('@hostpace/got'),
  '@hostpace/axios': () => import('@hostpace/axios'),
  '@hostpace/undici': () => import('@hostpace/undici'),
  '@hostpace/fetch': () => import('@hostpace/fetch'),
  '@hostpace/redis': () => import('@hostpace/redis'),
  '@hostpace/robots': () => import('@hostpace/robots'),
  '@hostpace/sqlite': () => import('@hostpace/sqlite'),
  '@hostpace/otel': () => import('@hostpace/otel'),
  '@hostpace/monitor': () => import('@hostpace/monitor'),
}

/** A user's project, with the packages installed from their tarballs, and the clients from the workspace. */
let project: string

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'hostpace-packed-'))
  await writeFile(join(project, 'package.json'), '{ "type": "module", "private": true }')
  const packed = await run(process.execPath, [join(root, '.ci/pack.mjs'), project], { maxBuffer: 2 ** 26 })
  // The command line has dependencies of its own, so it cannot come from tarballs alone; its tests run it as built.
  const libraries = (JSON.parse(packed.stdout) as { name: string; filename: string }[]).filter(
    ({ name }) => name !== 'hostpace',
  )
  const tarballs = libraries.map(({ filename }) => filename)
  // Offline and without peers, so that nothing but the tarballs themselves can be what is installed.
  const settings = ['--offline', '--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund']
  await run('npm', ['install', ...settings, ...tarballs], { cwd: project })
  for (const client of ['got', 'axios', 'undici']) await link(join(root, 'test/node_modules', client), client)
  await mkdir(join(project, 'node_modules/@opentelemetry'))
  await link(join(root, 'test/node_modules/@opentelemetry/api'), '@opentelemetry/api')
  await mkdir(join(project, 'node_modules/@types'))
  await link(join(root, 'node_modules/@types/node'), '@types/node')
}, 120_000)

afterAll(async () => {
  await rm(project, { recursive: true, force: true })
})

function link(target: string, name: string): Promise<void> {
  return symlink(target, join(project, 'node_modules', name))
}

/** Runs a program in the project, and gives back what it printed. */
async function program(name: string, code: string): Promise<unknown> {
  await writeFile(join(project, name), code)
  const { stdout } = await run(process.execPath, ['--no-warnings', name], { cwd: project })
  return JSON.parse(stdout)
}

/** What the compiler complains of in a file of the project. */
function typeErrors(name: string, options: readonly string[]): Promise<string> {
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')
  const strict = ['--noEmit', '--strict', '--target', 'es2023', '--types', 'node']
  return run(process.execPath, [compiler, ...strict, ...options, name], { cwd: project }).then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  )
}

describe.each(Object.keys(entries))('%s as installed', (entry) => {
  test('exports by import what the sources export', async () => {
    const code = `console.log(JSON.stringify(Object.keys(await import('${entry}')).sort()))`
    const names = Object.keys((await entries[entry]?.()) ?? {})
    expect(names).not.toEqual([])
    expect((await program('imported.mjs', code)) as string[]).toEqual(names.sort())
  })

  test('exports the same by require()', async () => {
    const code = `import('${entry}').then((module) => console.log(JSON.stringify(module === require('${entry}'))))`
    expect(await program('required.cjs', code)).toBe(true)
  })
})

describe.each(['core', 'got', 'axios', 'undici', 'fetch', 'robots', 'otel', 'monitor'])(
  'the manifest of %s',
  (name) => {
    test('names versions, and nothing of the workspace', async () => {
      const text = await readFile(join(project, 'node_modules/@hostpace', name, 'package.json'), 'utf8')
      expect(text).not.toMatch(/workspace:|catalog:/)
    })
  },
)

test.each(['nodenext', 'bundler'])(
  'their types compile for a strict user of module resolution %s',
  async (resolution) => {
    const code = `
    import { createPacer, type Permit } from '@hostpace/core'
    import { ManualClock } from '@hostpace/core/testing'
    import { pace as paceAxios } from '@hostpace/axios'
    import { pace as paceFetch } from '@hostpace/fetch'
    import { pace as paceGot } from '@hostpace/got'
    import { createMonitor, type Monitor } from '@hostpace/monitor'
    import { instrument } from '@hostpace/otel'
    import { robots } from '@hostpace/robots'
    import { pace as paceUndici } from '@hostpace/undici'
    import axios from 'axios'
    import got from 'got'
    import { Agent } from 'undici'

    const pacer = createPacer({ rate: '5r/s', clock: new ManualClock() })
    export const permit: Promise<Permit> = pacer.wait('https://a.example/')
    export const client = got.extend(paceGot(pacer))
    export const eject: () => void = paceAxios(axios.create(), pacer)
    export const agent = new Agent().compose(paceUndici(pacer))
    export const paced: typeof fetch = paceFetch(fetch, pacer)
    export const asked = () => paceFetch(fetch, pacer)('https://a.example/', { hostpace: { priority: 1 } })
    export const monitor: Monitor = createMonitor(pacer, { maxHosts: 10 })
    export const end: () => void = instrument(pacer, { maxHosts: 10 })
    export const polite = createPacer({ policyFor: robots({ userAgent: 'mybot' }) })
    // @ts-expect-error: a rate is not a number of nothing
    createPacer({ rate: true })
  `
    await writeFile(join(project, 'user.ts'), code)
    const module = resolution === 'nodenext' ? 'nodenext' : 'esnext'
    const paths = ['--module', module, '--moduleResolution', resolution]
    expect(await typeErrors('user.ts', ['--skipLibCheck', ...paths])).toBe('')
  },
)

test.each([true, false])('the types of axios compile in a CommonJS file, skipLibCheck %s', async (skipLibCheck) => {
  const code = `
    import { createPacer } from '@hostpace/core'
    import { pace } from '@hostpace/axios'
    import axios from 'axios'

    const pacer = createPacer({ rate: '5r/s' })
    export const ejects: (() => void)[] = [pace(axios, pacer), pace(axios.create(), { rate: '5r/s' })]
    export const asked = () => axios.get('https://a.example/', { hostpace: { priority: 1 } })
    // @ts-expect-error: a priority is a number
    export const misspelt = () => axios.get('https://a.example/', { hostpace: { priority: 'high' } })
    // @ts-expect-error: an object is no axios
    pace({}, pacer)
  `
  await writeFile(join(project, 'user.cts'), code)
  const options = ['--module', 'nodenext', '--skipLibCheck', String(skipLibCheck)]
  expect(await typeErrors('user.cts', options)).toBe('')
})

test('three clients as installed share one pacer', async () => {
  const code = `
    import { once } from 'node:events'
    import { createServer } from 'node:http'
    import { createPacer } from '@hostpace/core'
    import { pace as paceAxios } from '@hostpace/axios'
    import { pace as paceGot } from '@hostpace/got'
    import { pace as paceUndici } from '@hostpace/undici'
    import axios from 'axios'
    import got from 'got'
    import { Agent, request } from 'undici'

    const server = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = 'http://127.0.0.1:' + server.address().port

    const pacer = createPacer({ intervalMs: 10 })
    const client = got.extend(paceGot(pacer))
    paceAxios(axios, pacer)
    const dispatcher = new Agent().compose(paceUndici(pacer))

    await Promise.all([client(url), axios.get(url), request(url, { dispatcher }).then(({ body }) => body.dump())])
    await dispatcher.close()
    server.close()
    console.log(pacer.stats().total.departures)
    await pacer.close()
  `
  expect(await program('shared.mjs', code)).toBe(3)
})
