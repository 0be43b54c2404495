import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createConnection, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A Redis server of our own, which keeps nothing on disk. */
export interface RedisServer {
  readonly port: number
  close(): void
}

/** @returns nothing if redis-server is not installed */
export async function startRedis(): Promise<RedisServer | undefined> {
  const port = await freePort()
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const child = spawn('redis-server', args, { stdio: 'ignore' })
  const failed = once(child, 'error').then(() => true)
  for (let attempt = 0; attempt < 100; attempt++) {
    if (await Promise.race([failed, sleep(50, false)])) return undefined
    if (await answers(port)) return { port, close: () => child.kill('SIGKILL') }
  }
  child.kill('SIGKILL')
  return undefined
}

async function freePort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return port
}

async function answers(port: number): Promise<boolean> {
  const socket = createConnection(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
