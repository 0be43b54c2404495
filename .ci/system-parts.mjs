import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** The system parts that tests and demo use where they can be had: the program, and its Debian package. */
const parts = { nginx: { program: 'nginx', debianPackage: 'nginx-light' } }

/**
 * Sees to it that a system part is installed: by apt-get where the user is root on Debian; elsewhere it says in one
 * line what to install. Whoever uses the part does without it if it is not there.
 *
 * @returns whether it is there
 */
export function ensureSystemPart(name) {
  const { program, debianPackage } = parts[name]
  if (isInstalled(program)) return true
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) {
    console.log(
      `setup: ${name} is not installed; install it (on Debian: apt-get install ${debianPackage}) for the full run`,
    )
    return false
  }
  console.log(`setup: installing ${debianPackage} by apt-get`)
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', debianPackage]]) {
    const { status } = spawnSync('apt-get', ['-qq', ...args], { stdio: 'ignore', env: environment })
    if (status === 0) continue
    console.log(`setup: apt-get ${args[0]} failed; going on without ${name}`)
    return false
  }
  return isInstalled(program)
}

function isInstalled(program) {
  // /usr/sbin is not on every user's path.
  return spawnSync('sh', ['-c', `PATH="$PATH:/usr/sbin:/sbin" command -v ${program}`]).status === 0
}
