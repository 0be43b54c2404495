import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'

/** The system parts that tests and demo use where they can be had: the program, and its Debian package. */
const parts = {
  nginx: { program: 'nginx', debianPackage: 'nginx' },
  haproxy: { program: 'haproxy', debianPackage: 'haproxy' },
  redis: { program: 'redis-server', debianPackage: 'redis-server' },
  faketime: { program: 'faketime', debianPackage: 'faketime' },
  chromium: { program: 'chromium', debianPackage: 'chromium' },
}

/** While this file is there and says so, Debian's packages start no service when they are installed. */
const servicePolicy = '/usr/sbin/policy-rc.d'
const limitMs = 180_000

/**
 * Sees to it that system parts are installed: by apt-get where the user is root on Debian; elsewhere it says in one
 * line what to install. Whoever uses a part does without it if it is not there.
 *
 * @returns whether all are there
 */
export function ensureSystemParts(names) {
  const missing = names.map((name) => parts[name]).filter(({ program }) => !isInstalled(program))
  if (missing.length === 0) return true
  const packages = missing.map(({ debianPackage }) => debianPackage)
  const list = packages.join(' ')
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) {
    console.log(`setup: not all is installed; on Debian: apt-get install ${list}, for the full run`)
    return false
  }
  console.log(`setup: installing ${list} by apt-get`)
  const failed = aptInstall(packages)
  if (failed) console.log(`setup: apt-get ${failed} failed; going on without ${list}`)
  return !failed && missing.every(({ program }) => isInstalled(program))
}

/** @returns the step that failed, if one did */
function aptInstall(packages) {
  const steps = [['update'], ['install', '-y', '--no-install-recommends', ...packages]]
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const forbidden = forbidServices()
  try {
    for (const step of steps) {
      const args = ['-qq', '-o', 'Acquire::Retries=1', '-o', 'Acquire::http::Timeout=20', ...step]
      if (spawnSync('apt-get', args, { stdio: 'ignore', env, timeout: limitMs }).status !== 0) return step[0]
    }
  } finally {
    if (forbidden) rmSync(servicePolicy)
  }
}

function forbidServices() {
  if (existsSync(servicePolicy)) return false
  writeFileSync(servicePolicy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  return true
}

function isInstalled(program) {
  // /usr/sbin is not on every user's path.
  return spawnSync('sh', ['-c', `PATH="$PATH:/usr/sbin:/sbin" command -v ${program}`]).status === 0
}
