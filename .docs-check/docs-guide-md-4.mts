import assert from 'node:assert/strict'
import { createPacer } from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'

const clock = new ManualClock()
const pacer = createPacer({ intervalMs: 60_000, clock })
await pacer.wait('https://a.example/1')
let isGone = false
const second = pacer.wait('https://a.example/2').then(() => {
  isGone = true
})
await clock.advanceAsync(59_999)
assert.equal(isGone, false)
await clock.advanceAsync(1)
await second
await pacer.close()
