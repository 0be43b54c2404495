import axios from 'axios'
import { createPacer } from '@hostpace/core'
import { pace } from '@hostpace/axios'

const pacer = createPacer({ hosts: { 'https://api.example.com': { rate: '80r/m' } } })
const client = axios.create({ baseURL: 'https://api.example.com' })
const eject = pace(client, pacer)
await client.get('/items')
eject()
