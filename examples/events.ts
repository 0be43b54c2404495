import { pace } from '@hostpace/axios'
import { createPacer } from '@hostpace/core'
import axios from 'axios'
import { localServer } from './local-server.ts'

const server = await localServer()
const pacer = createPacer({ intervalMs: 200 })
pace(axios, pacer)

pacer.on('wait', ({ key, waitMs, layer, queued }) => {
  console.log(`${key}: the first of ${queued} waits ${waitMs.toFixed(0)} ms for the layer ${layer}`)
})
pacer.on('depart', ({ key, waitedMs }) => console.log(`${key}: left after ${waitedMs.toFixed(0)} ms`))
pacer.on('pause', ({ key, waitMs, reason }) => console.log(`${key}: held for ${waitMs.toFixed(0)} ms, ${reason}`))

const visit = (path: string) => axios.get(server.url + path)
await Promise.all(['a', 'b'].map(visit))
pacer.pause(server.url, 300, 'because we said so')
await Promise.all(['c', 'd'].map(visit))

console.log(String(await pacer.explain(server.url)))
await pacer.close()
await server.finish(200)
