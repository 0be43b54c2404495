import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Monitor } from '@hostpace/monitor'
import puppeteer, { type Browser, type Page } from 'puppeteer-core'
import { onTestFinished } from 'vitest'

const names = ['chromium', 'chromium-browser', 'google-chrome']

/** Where the Chromium of the system is; `undefined` if there is none. */
export function findChromium(): string | undefined {
  const pathOf = (name: string) => spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim()
  return names.map(pathOf).find((path) => path !== '')
}

/** A Chromium without a window, and what ends it. */
export async function launch(executablePath: string): Promise<{ browser: Browser; quit: () => Promise<void> }> {
  const userDataDir = await mkdtemp(join(tmpdir(), 'hostpace-monitor-'))
  const browser = await puppeteer.launch({
    executablePath,
    userDataDir,
    // Without it, root gets no Chromium; the page is ours.
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'],
    timeout: 60_000,
  })
  const quit = async () => {
    await browser.close()
    // It may still be writing down its last words.
    await rm(userDataDir, { recursive: true, force: true, maxRetries: 5 })
  }
  return { browser, quit }
}

/** The page of a monitor, and what went wrong in it. */
export interface Opened {
  readonly page: Page
  /** Errors of its script, what its policy forbade, and dialogs. */
  readonly problems: readonly string[]
  /** What it asked for that is not from the server of the monitor. */
  readonly foreign: readonly string[]
}

/**
 * Serves a monitor at `/pace` and opens its page; both are closed when the test is over.
 *
 * @param handler what answers, in place of the monitor alone
 */
export async function open(
  browser: Browser,
  monitor: Monitor,
  handler: RequestListener = monitor.node,
): Promise<Opened> {
  const server = createServer(handler)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const page = await browser.newPage()
  onTestFinished(async () => {
    await page.close()
    monitor.close()
    server.closeAllConnections()
    await once(server.close(), 'close')
  })
  const problems: string[] = []
  const foreign: string[] = []
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  page.on('dialog', (dialog) => {
    problems.push(dialog.message())
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) foreign.push(request.url())
  })
  await page.setViewport({ width: 1400, height: 900 })
  await page.goto(`${origin}/pace`)
  return { page, problems, foreign }
}
