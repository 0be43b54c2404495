import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { ensureSystemParts } from '../../.ci/system-parts.mjs'
import { execute } from './execute.mjs'

const programs = ['chromium', 'chromium-browser', 'google-chrome']

/**
 * The Chromium of the system. Where the user is root on Debian it is installed if need be; elsewhere one line says what
 * to install.
 *
 * @returns the path of its program; `undefined` if it cannot be had
 */
export function ensureChromium() {
  const found = findChromium()
  if (found !== undefined) return found
  return ensureSystemParts(['chromium']) ? findChromium() : undefined
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

/** The Chromium of the system as it is. @returns the path of its program; `undefined` if there is none */
export function findChromium() {
  return programs.map(pathOf).find((path) => path !== '')
}

/** Where a program is; `''` if there is none of that name. */
function pathOf(name) {
  return spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim()
}
