import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { execute } from './execute.mjs'

const limitMs = 300_000
const programs = ['chromium', 'chromium-browser', 'google-chrome']

/**
 * The Chromium of the system. Where the user is root on Debian it is installed if need be; elsewhere one line says what
 * to install.
 *
 * @returns its program; `undefined` if it cannot be had
 */
export function ensureChromium() {
  const found = installed()
  if (found !== undefined) return found
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) {
    console.log(
      'runtimes: Chromium is not installed; install it (on Debian: apt-get install chromium) for the full run',
    )
    return undefined
  }
  console.log('runtimes: installing chromium by apt-get')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  for (const step of [['update'], ['install', '-y', '--no-install-recommends', 'chromium']]) {
    const { status } = spawnSync('apt-get', ['-qq', ...step], { stdio: 'ignore', env, timeout: limitMs })
    if (status === 0) continue
    console.log(`runtimes: apt-get ${step[0]} failed; going on without Chromium`)
    return undefined
  }
  return installed()
}

/** Opens a page and prints it as it is once everything in it is loaded. */
export function openPage(program, url, folder) {
  const settings = [
    '--headless',
    // Without it, root gets no Chromium; the page is ours.
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--disable-background-networking',
    '--disable-component-update',
    '--no-first-run',
    `--user-data-dir=${join(folder, '.chromium')}`,
  ]
  return execute(program, [...settings, '--dump-dom', url], folder)
}

function installed() {
  return programs.find((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0)
}
