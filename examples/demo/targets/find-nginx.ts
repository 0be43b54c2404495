import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * The nginx of this machine. Where there is none and the user is root on Debian it is installed.
 *
 * @returns the program, or `undefined` where nginx cannot be had
 */
export async function findNginx(): Promise<string | undefined> {
  const found = await installed()
  if (found !== undefined || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return found
  console.log('Installing nginx for the targets …')
  // The package would start a server of its own on port 80, which nobody asked for.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1', SYSTEMD_OFFLINE: '1' }
  try {
    await run('apt-get', ['update', '-qq'], { env })
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'nginx-light'], { env })
  } catch {
    console.log('nginx could not be installed.')
  }
  return installed()
}

async function installed(): Promise<string | undefined> {
  // Only root has /usr/sbin in its PATH everywhere.
  for (const program of ['nginx', '/usr/sbin/nginx']) {
    try {
      await run(program, ['-v'])
      return program
    } catch {}
  }
  return undefined
}
