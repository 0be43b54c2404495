import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type HostName, hostNames, hosts } from '../hosts.ts'
import { renderSite, type Site } from '../site/page.ts'
import { buildSites } from '../site/sites.ts'
import { findNginx } from './find-nginx.ts'
import { freePorts } from './free-ports.ts'
import { isEnforcedByNginx } from './rules.ts'
import type { Stall } from './stalls.ts'
import type { Target, TargetPlan } from './target.ts'
import { startTargetProcess } from './target-process.ts'

export interface StartedTargets {
  origins: Record<HostName, string>
  sites: Record<HostName, Site>
  logs: Record<HostName, string>
  /** What serves each host. */
  servers: Record<HostName, string>
  /** Resolves with the spans in which the targets were held up, and so the stamps in their logs are late. */
  stop(): Promise<Stall[]>
}

/** Writes the sites below `folder` and serves each host on a free port: by nginx where it can be had, else by Node. */
export async function startTargets(folder: string): Promise<StartedTargets> {
  const nginx = process.env.HOSTPACE_DEMO_NGINX === 'no' ? undefined : findNginx()
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
  const ports = await freePorts(2 * hostNames.length)
  const origins = byName((_, index) => `http://127.0.0.1:${ports[index]}`)
  const sites = buildSites(origins)
  const targets = byName((name, index): Target => {
    const { rule } = hosts[name]
    const target: Target = {
      name,
      port: ports[index] as number,
      rule,
      root: join(folder, 'pages', name),
      log: join(folder, `${name}.log`),
      redirectTo: rule.kind === 'redirect' ? origins[rule.to] : undefined,
    }
    if (nginx === undefined || isEnforcedByNginx(rule)) return target
    return { ...target, portBehind: ports[hostNames.length + index] as number }
  })
  await Promise.all(hostNames.map((name) => writeSite(sites[name], targets[name])))

  const plan: TargetPlan = { targets: Object.values(targets) }
  if (nginx !== undefined) plan.nginx = { program: nginx, folder: join(folder, 'nginx') }
  const { stop } = await startTargetProcess(plan)
  const servers = byName((name) => {
    if (nginx === undefined) return 'Node'
    return targets[name].portBehind === undefined ? 'nginx' : 'nginx, Node behind'
  })
  return { origins, sites, logs: byName((name) => targets[name].log), servers, stop }
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
