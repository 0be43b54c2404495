import { createPacer } from '@hostpace/core'

const pacer = createPacer({ rate: '10r/s' })

// Waits its turn, calls the function, learns from the response, frees the permit.
const status = await pacer.run('http://127.0.0.1:9/feed', async () => 200)

// A scheduler asks when it might go, and works on another host meanwhile.
const reservation = await pacer.reserve('http://127.0.0.1:9/feed')
console.log(status, reservation.waitMs, reservation.layer)
reservation.cancel()
await pacer.close()
