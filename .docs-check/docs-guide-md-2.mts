import { createPacer } from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'

const clock = new ManualClock()
const pacer = createPacer({ intervalMs: 2000, clock })
await pacer.wait('https://a.example/1')

const reservation = await pacer.reserve('https://a.example/2')
console.log(reservation.waitMs, reservation.layer) // 2000 interval
await clock.advanceAsync(reservation.waitMs)
const permit = await pacer.wait('https://a.example/2', { reservation })
permit.done()
await pacer.close()
