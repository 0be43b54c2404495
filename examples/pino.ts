import { createPacer } from '@hostpace/core'
import { pace } from '@hostpace/undici'
import { pino } from 'pino'
import { Agent, request } from 'undici'
import { localServer } from './local-server.ts'

const log = pino()
const server = await localServer()
const pacer = createPacer({ intervalMs: 200 })

pacer.on('depart', ({ key, waitedMs, layer }) => log.info({ host: key, waitedMs, layer }, 'departed'))
pacer.on('reject', ({ key, waitedMs, error }) => log.warn({ host: key, waitedMs, err: error }, 'refused'))
pacer.on('pause', ({ key, waitMs, reason }) => log.warn({ host: key, waitMs, reason }, 'held'))

const dispatcher = new Agent().compose(pace(pacer))
const visit = async (path: string) => (await request(server.url + path, { dispatcher })).body.dump()
await Promise.all(['a', 'b'].map(visit))
pacer.pause(server.url, 300, 'because we said so')
await Promise.all(['c', 'd'].map(visit))

await dispatcher.close()
await pacer.close()
await server.finish(200)
