import { pace } from '@hostpace/axios'
import axios from 'axios'
import { localServer } from './local-server.ts'

const server = await localServer()

pace(axios, { intervalMs: 200 })

await Promise.all(['a', 'b', 'c', 'd'].map((path) => axios.get(server.url + path)))
await server.finish(200)
