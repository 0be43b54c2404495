import { pace } from '@hostpace/got'
import got from 'got'
import { localServer } from './local-server.ts'

const server = await localServer()

const client = got.extend(pace({ intervalMs: 200 }))

await Promise.all(['a', 'b', 'c', 'd'].map((path) => client(server.url + path)))
await server.finish(200)
