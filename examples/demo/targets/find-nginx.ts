import { spawnSync } from 'node:child_process'

/** The nginx of this machine, or `undefined` if there is none. */
export function findNginx(): string | undefined {
  // Only root has /usr/sbin in its PATH everywhere.
  return ['nginx', '/usr/sbin/nginx'].find((program) => spawnSync(program, ['-v']).status === 0)
}
