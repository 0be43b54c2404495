import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { nginxLogFormat } from '../access-log.ts'
import { arrivedHeader, graceMs, isEnforcedByNginx } from './rules.ts'
import type { RunningTargets, Target } from './target.ts'

/**
 * Serves targets from an nginx of their own, in one process, with everything that it writes below
 * `folder`. Those that have a server behind them are handed on to it, all others are nginx's alone.
 */
export async function startNginx(program: string, targets: readonly Target[], folder: string): Promise<RunningTargets> {
  await mkdir(folder, { recursive: true })
  const config = join(folder, 'nginx.conf')
  await writeFile(config, nginxConfig(targets, folder))
  const child = spawn(program, ['-p', folder, '-c', config], { stdio: ['ignore', 'ignore', 'pipe'] })
  const exited = once(child, 'exit')
  // The crawl has failed by then anyway; what matters is that nobody is left with a rejected promise.
  exited.catch(() => {})
  await listening(child, join(folder, 'nginx.pid'))
  return {
    async stop() {
      child.kill('SIGQUIT')
      await exited
    },
  }
}

function nginxConfig(targets: readonly Target[], folder: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 256; }
http {
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  types { text/html html; }
  keepalive_timeout 60s;
  limit_req_status 429;
  ${nginxLogFormat}
${targets.map(serverBlocks).join('')}}
`
}

function serverBlocks(target: Target): string {
  const { name, port, root, log, portBehind } = target
  return `
  ${portBehind === undefined ? limitZone(target) : `upstream ${name} { server 127.0.0.1:${portBehind}; keepalive 8; }`}
  server {
    listen 127.0.0.1:${port};
    root ${root};
    access_log ${log} lines;
    ${portBehind === undefined ? ownLocations(target) : handedOn(name)}
  }
`
}

function limitZone({ name, rule }: Target): string {
  if (!isEnforcedByNginx(rule)) throw new TypeError(`nginx alone cannot serve ${name}`)
  return `limit_req_zone $server_port zone=${name}:1m rate=${perMinute(rule.intervalMs)}r/m;`
}

function ownLocations({ name, redirectTo }: Target): string {
  return `location / {
      limit_req zone=${name};
      try_files $uri $uri/index.html ${redirectTo === undefined ? '=404' : '@moved'};
    }
    location @moved { return 301 ${redirectTo}$request_uri; }`
}

function handedOn(name: string): string {
  return `location / {
      proxy_pass http://${name};
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header ${arrivedHeader} $msec;
    }`
}

/** nginx counts in whole requests per minute. It gives the network the same grace as the other targets. */
function perMinute(intervalMs: number): number {
  return Math.ceil(60_000 / (intervalMs - graceMs))
}

/** nginx writes its process id once it listens on every port; where it cannot, it gives up after a while. */
async function listening(child: ChildProcess, pidFile: string): Promise<void> {
  let complaint = ''
  child.stderr?.on('data', (data: Buffer) => {
    complaint += data
  })
  while (!existsSync(pidFile)) {
    if (child.exitCode !== null) throw new Error(`nginx did not start: ${complaint.trim()}`)
    await sleep(10)
  }
}
