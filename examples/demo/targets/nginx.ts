import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { nginxLogFormat } from '../access-log.ts'
import { graceMs } from './rules.ts'
import type { RunningTargets, Target } from './target.ts'

/** What nginx can enforce by itself: `limit_req` knows no windows and refuses nobody just once. */
export function servedByNginx({ rule }: Target): boolean {
  return rule.kind === 'interval' || rule.kind === 'redirect'
}

/**
 * Serves targets from an nginx of their own, in one process, with everything that it writes below
 * `folder`.
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

function serverBlocks({ name, port, rule, root, log, redirectTo }: Target): string {
  if (rule.kind !== 'interval' && rule.kind !== 'redirect') throw new TypeError(`nginx cannot serve ${name}`)
  const otherwise = rule.kind === 'redirect' ? '@moved' : '=404'
  return `
  limit_req_zone $server_port zone=${name}:1m rate=${perMinute(rule.intervalMs)}r/m;
  server {
    listen 127.0.0.1:${port};
    root ${root};
    access_log ${log} lines;
    location / {
      limit_req zone=${name};
      try_files $uri $uri/index.html ${otherwise};
    }
    location @moved { return 301 ${redirectTo}$request_uri; }
  }
`
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
