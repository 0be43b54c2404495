import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createConnection, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A server in a process of its own, for one test file. */
export interface RedisServer {
  readonly port: number
  readonly url: string
  /** The process, to stop it for a while and the like. */
  readonly pid: number
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>
  /** Starts it again on the same port, empty. */
  restart(): Promise<void>
  /** Ends it and removes what it has written. */
  close(): Promise<void>
}

/** Whether there is a program to start: where not, the tests that need one are skipped. */
export const hasRedisServer: boolean = spawnSync('redis-server', ['--version']).status === 0

/** Whether there is a server for tests that neither stop it nor need it alone: one to start, or that of REDIS_URL. */
export const serverIsThere: boolean = hasRedisServer || process.env.REDIS_URL !== undefined

/** A server for tests that neither stop it nor need it alone. */
export async function openServer(): Promise<Pick<RedisServer, 'url' | 'close'>> {
  const url = process.env.REDIS_URL
  if (url === undefined) return startRedisServer()
  return { url, async close() {} }
}

/** Starts a server on a free port of 127.0.0.1. Nothing is kept on disk. */
export async function startRedisServer(...options: string[]): Promise<RedisServer> {
  const port = await freePort()
  const directory = await mkdtemp(join(tmpdir(), 'hostpace-redis-'))
  const fixed = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', directory]
  let child = await launch(port, [...fixed, ...options])
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    get pid() {
      return child.pid as number
    },
    kill: () => end(child),
    restart: async () => {
      child = await launch(port, [...fixed, ...options])
    },
    close: async () => {
      await end(child)
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** A port that nobody listens on. Of a cluster node the one 10,000 above is needed, too. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const port = 20_000 + Math.floor(Math.random() * 20_000)
    if ((await isFree(port)) && (await isFree(port + 10_000))) return port
  }
  throw new Error('no free port')
}

/** Starts the program, and waits until it answers on its port. */
export async function launch(port: number, args: readonly string[]): Promise<ChildProcess> {
  const child = spawn('redis-server', args, { stdio: 'ignore' })
  for (let attempt = 0; attempt < 200; attempt++) {
    if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`)
    if (await answersPing(port)) return child
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  child.kill('SIGKILL')
  throw new Error('redis-server does not answer')
}

/** Ends a process at once, unless it has ended. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const isOver = new Promise((resolve) => child.once('exit', resolve))
  // One that has been stopped takes no other signal than this.
  child.kill('SIGKILL')
  await isOver
}

function answersPing(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1', () => socket.write('PING\r\n'))
    socket.once('data', (data) => {
      socket.destroy()
      resolve(data.toString().startsWith('+PONG'))
    })
    socket.once('error', () => resolve(false))
  })
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
