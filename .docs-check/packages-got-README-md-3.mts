import { createPacer } from '@hostpace/core'
import { pace } from '@hostpace/got'
import got from 'got'

const pacer = createPacer({ hosts: { 'https://api.example.com': { rate: '80r/m' } } })
const client = got.extend(pace(pacer), { prefixUrl: 'https://api.example.com' })
const items = await client('items').json()

{
await client('items', { context: { hostpace: { priority: 1, maxWaitMs: 5000 } } })
}
