import * as core from '@hostpace/core'
import { pace } from '@hostpace/fetch'
import { robots } from '@hostpace/robots'
import { play } from './play.mjs'

/** Acts the scenarios that stand behind the `#` of the address, after the origin of host `b`; the script comes from host `a`. */
export function playHere() {
  const [b, wanted] = location.hash.slice(1).split(';')
  return play({ ...core, pace, robots }, { a: location.origin, b }, wanted, true).catch((error) => ({
    start: String(error?.stack ?? error),
  }))
}
