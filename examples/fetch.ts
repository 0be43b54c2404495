import { pace } from '@hostpace/undici'
import { getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { localServer } from './local-server.ts'

const server = await localServer()

// From here on the fetch that is built into Node is paced.
setGlobalDispatcher(getGlobalDispatcher().compose(pace({ intervalMs: 200 })))

await Promise.all(['a', 'b', 'c', 'd'].map(async (path) => (await fetch(server.url + path)).text()))
await server.finish(200)
