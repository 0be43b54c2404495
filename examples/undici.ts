import { pace } from '@hostpace/undici'
import { Agent, request } from 'undici'
import { localServer } from './local-server.ts'

const server = await localServer()

const dispatcher = new Agent().compose(pace({ intervalMs: 200 }))

await Promise.all(
  ['a', 'b', 'c', 'd'].map(async (path) => {
    const { body } = await request(server.url + path, { dispatcher })
    await body.dump()
  }),
)
await server.finish(200)
