import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import puppeteer, { type Page } from 'puppeteer-core'
import { build } from 'vite'
import { findChromium } from '../../test/runtimes/chromium.mjs'

const configFile = fileURLToPath(new URL('../vite.config.ts', import.meta.url))
const limitMs = 60_000

export interface Playground {
  readonly page: Page
  /** Where the page is, without what is set. */
  readonly address: string
  /** What was asked of the network. */
  readonly requests: readonly string[]
  /** What went wrong in the page. */
  readonly errors: readonly string[]
  close(): Promise<void>
}

/** Builds the page and opens its one file in Chromium; `undefined` where there is no Chromium. */
export async function openPlayground(): Promise<Playground | undefined> {
  const executablePath = findChromium()
  if (executablePath === undefined) return undefined
  const folder = await mkdtemp(join(tmpdir(), 'hostpace-playground-'))
  try {
    await build({ configFile, logLevel: 'warn', build: { outDir: folder } })
    return await openIn(folder, executablePath)
  } catch (error) {
    await remove(folder)
    throw error
  }
}

async function openIn(folder: string, executablePath: string): Promise<Playground> {
  const browser = await puppeteer.launch({
    executablePath,
    userDataDir: join(folder, 'profile'),
    // Without it, root gets no Chromium; the page is ours.
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'],
    timeout: limitMs,
  })
  const page = await browser.newPage()
  const requests: string[] = []
  const errors: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  await page.setViewport({ width: 1000, height: 900 })
  const address = pathToFileURL(join(folder, 'index.html')).href
  await page.goto(address)
  const close = async () => {
    await browser.close()
    await remove(folder)
  }
  return { page, address, requests, errors, close }
}

function remove(folder: string): Promise<void> {
  // Chromium may still be writing down its last words.
  return rm(folder, { recursive: true, force: true, maxRetries: 5 })
}
