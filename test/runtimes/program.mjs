/** `node program.mjs <origin of a> <origin of b> <scenarios>`, or with bun or deno: prints what went wrong, by scenario. */
import * as core from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'
import { pace } from '@hostpace/fetch'
import { robots } from '@hostpace/robots'
import { play } from './play.mjs'

const [a, b, wanted] = process.argv.slice(2)
console.log(JSON.stringify(await play({ ...core, ManualClock, pace, robots }, { a, b }, wanted, false)))
