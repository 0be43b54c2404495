/** Installs the git hooks of a working clone; where there is none to install into, there is nothing to do. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './pnpm.mjs'

/** Who keeps hooks elsewhere has their own. */
const hasOwnHooks = () => spawnSync('git', ['config', 'core.hooksPath'], { cwd: root }).status === 0

if (!process.env.CI && existsSync(join(root, '.git')) && !hasOwnHooks()) {
  const { status } = spawnSync(join(root, 'node_modules/.bin/lefthook'), ['install'], { cwd: root, stdio: 'ignore' })
  if (status !== 0) console.log('setup: the git hooks were not installed; lint runs in CI all the same')
}
