/** The program in a page, which comes from host `a`; behind its `#` are the origin of `b` and the scenarios. */
import * as core from '@hostpace/core'
import { pace } from '@hostpace/fetch'
import { play } from './play.mjs'

const [b, wanted] = location.hash.slice(1).split(';')
const origins = { a: location.origin, b }
const failures = await play({ ...core, pace }, origins, wanted, true).catch((error) => ({
  start: String(error?.stack ?? error),
}))
document.querySelector('output').textContent = encodeURIComponent(JSON.stringify(failures))
// The page has an image that is not there before this; only then is it loaded.
await fetch('/loaded')
