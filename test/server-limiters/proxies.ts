import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LimitedServer } from './node-servers.ts'

/** Where a program of this machine is; `undefined` if it is not installed. */
export function findProgram(name: string): string | undefined {
  return [name, `/usr/sbin/${name}`].find((program) => spawnSync(program, ['-v']).status === 0)
}

/**
 * nginx with `limit_req`: a request that comes too early is refused with a bare 429.
 *
 * @param burst how many may be ahead of the rate at once
 */
export function startNginx(program: string, perSecond: number, burst = 0): Promise<LimitedServer> {
  const limit = `limit_req zone=one${burst > 0 ? ` burst=${burst} nodelay` : ''}`
  return startProxy(program, (folder, port) => ({
    args: ['-p', folder, '-e', `${folder}/error.log`, '-c', 'proxy.conf', '-g', 'daemon off;'],
    config: `
      worker_processes 1;
      pid ${folder}/pid;
      events {}
      http {
        access_log off;
        client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder};
        uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
        limit_req_zone $binary_remote_addr zone=one:1m rate=${perSecond}r/s;
        server {
          listen 127.0.0.1:${port};
          location / { ${limit}; limit_req_status 429; return 200 ok; }
          location = / { ${limit}; limit_req_status 429; try_files /none @ok; }
          location @ok { return 200 ok; }
        }
      }`,
  }))
}

/** HAProxy with a stick table that counts the requests of the last second, and a bare 429 above its limit. */
export function startHaproxy(program: string, perSecond: number): Promise<LimitedServer> {
  return startProxy(program, (folder, port) => ({
    args: ['-f', join(folder, 'proxy.conf')],
    config: `
global
  maxconn 200
defaults
  mode http
  timeout client 30s
  timeout server 30s
  timeout connect 5s
frontend limited
  bind 127.0.0.1:${port}
  stick-table type ip size 100 expire 10s store http_req_rate(1s)
  http-request track-sc0 src
  http-request deny deny_status 429 if { sc_http_req_rate(0) gt ${perSecond} }
  http-request return status 200 content-type text/plain string ok
`,
  }))
}

interface ProxyPlan {
  readonly args: readonly string[]
  readonly config: string
}

async function startProxy(program: string, plan: (folder: string, port: number) => ProxyPlan): Promise<LimitedServer> {
  const folder = await mkdtemp(join(tmpdir(), 'hostpace-proxy-'))
  const port = await freePort()
  const { args, config } = plan(folder, port)
  await writeFile(join(folder, 'proxy.conf'), config)
  const child = spawn(program, args, { stdio: 'ignore' })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await reachable(port)
  return {
    origin: `http://127.0.0.1:${port}`,
    async close() {
      child.kill()
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function reachable(port: number): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true))
      socket.once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
    if (isOpen) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`Nothing listens on port ${port}`)
}
