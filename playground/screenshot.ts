/** Draws docs/playground.png, which the README shows: `npm run playground:screenshot`. */
import { fileURLToPath } from 'node:url'
import { openPlayground } from './test/open-playground.ts'

const path = fileURLToPath(new URL('../docs/playground.png', import.meta.url)) as `${string}.png`

const playground = await openPlayground()
if (playground === undefined) {
  console.error('playground: there is no Chromium to draw it')
  process.exitCode = 1
} else {
  await playground.page.screenshot({ path, fullPage: true })
  await playground.close()
  console.log(`playground: drawn in ${path}`)
}
