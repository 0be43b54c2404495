import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type HostName, hostNames, hosts } from '../hosts.ts'
import { renderSite, type Site } from '../site/page.ts'
import { buildSites } from '../site/sites.ts'
import { findNginx } from './find-nginx.ts'
import { freePorts } from './free-ports.ts'
import { servedByNginx } from './nginx.ts'
import type { Target, TargetPlan } from './target.ts'
import { startTargetProcess } from './target-process.ts'

export interface StartedTargets {
  origins: Record<HostName, string>
  sites: Record<HostName, Site>
  logs: Record<HostName, string>
  /** What serves each host. */
  servers: Record<HostName, string>
  stop(): Promise<void>
}

/** Writes the sites below `folder` and serves each host on a free port: by nginx where it can be had, else by Node. */
export async function startTargets(folder: string): Promise<StartedTargets> {
  const nginx = process.env.HOSTPACE_DEMO_NGINX === 'no' ? undefined : await findNginx()
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await tryToStart(join(folder, String(attempt)), nginx)
    } catch (error) {
      // Somebody else may have taken a port between our finding it free and the target's listening on it.
      if (attempt === 3) throw error
    }
  }
}

async function tryToStart(folder: string, nginx: string | undefined): Promise<StartedTargets> {
  const ports = await freePorts(hostNames.length)
  const origins = byName((_, index) => `http://127.0.0.1:${ports[index]}`)
  const sites = buildSites(origins)
  const targets = byName((name, index) => describe(name, ports[index] as number, folder, origins))
  await Promise.all(hostNames.map((name) => writeSite(sites[name], targets[name])))

  const servers = byName((name) => (nginx !== undefined && servedByNginx(targets[name]) ? 'nginx' : 'Node'))
  const servedBy = (server: string) => hostNames.filter((name) => servers[name] === server).map((name) => targets[name])
  const plan: TargetPlan = { node: servedBy('Node') }
  if (nginx !== undefined) plan.nginx = { program: nginx, folder: join(folder, 'nginx'), targets: servedBy('nginx') }
  const { stop } = await startTargetProcess(plan)
  return { origins, sites, logs: byName((name) => targets[name].log), servers, stop }
}

function describe(name: HostName, port: number, folder: string, origins: Record<HostName, string>): Target {
  const { rule } = hosts[name]
  const redirectTo = rule.kind === 'redirect' ? origins[rule.to] : undefined
  return { name, port, rule, root: join(folder, 'pages', name), log: join(folder, `${name}.log`), redirectTo }
}

/** Of pages that have moved nothing is left but the index. */
async function writeSite(site: Site, { root, rule }: Target): Promise<void> {
  for (const [path, html] of renderSite(site)) {
    if (rule.kind === 'redirect' && path !== '/index.html') continue
    await mkdir(dirname(root + path), { recursive: true })
    await writeFile(root + path, html)
  }
}

function byName<T>(value: (name: HostName, index: number) => T): Record<HostName, T> {
  return Object.fromEntries(hostNames.map((name, index) => [name, value(name, index)])) as Record<HostName, T>
}
