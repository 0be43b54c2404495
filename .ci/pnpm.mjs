import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The top of the repository. */
export const root = fileURLToPath(new URL('..', import.meta.url))

const { packageManager } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

/** The pinned pnpm, by way of npx, so that nothing but npm need be installed. */
export const pnpm = ['npx', '--yes', packageManager]
