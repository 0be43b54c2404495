import { setTimeout as sleep } from 'node:timers/promises'
import { pace } from '@hostpace/axios'
import { createPacer } from '@hostpace/core'
import axios from 'axios'
import { localServer } from './local-server.ts'

/** A worker with two hosts to visit: it never waits for one while the other may be asked. */
const [slow, quick] = [await localServer(), await localServer()]
const pacer = createPacer({
  hosts: { [new URL(slow.url).origin]: { intervalMs: 400 }, [new URL(quick.url).origin]: { intervalMs: 150 } },
})
pace(axios, pacer)

const todo = [slow, quick].flatMap(({ url }) => ['a', 'b', 'c', 'd'].map((path) => url + path))

while (todo.length > 0) {
  // peek takes nothing, so all may be compared before one is chosen.
  const waits = await Promise.all(todo.map(async (url) => ({ url, ...(await pacer.peek(url)) })))
  const { url } = waits.reduce((best, next) => (next.waitMs < best.waitMs ? next : best))
  todo.splice(todo.indexOf(url), 1)

  // The slot is ours now. At its time it is handed to whoever sends the request.
  const reservation = await pacer.reserve(url)
  await sleep(reservation.waitMs)
  await axios.get(url, { hostpace: { reservation } })
  console.log(`${url} after ${reservation.waitMs.toFixed(0)} ms for the layer ${reservation.layer}`)
}

await pacer.close()
await slow.finish(400)
await quick.finish(150)
