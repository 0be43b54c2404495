import { createPacer } from '@hostpace/core'
import { pace as paceGot } from '@hostpace/got'
import { pace as paceAxios } from '@hostpace/axios'
import { pace as paceUndici } from '@hostpace/undici'
import axios from 'axios'
import got from 'got'
import { getGlobalDispatcher, setGlobalDispatcher } from 'undici'

const pacer = createPacer({ rate: '5r/s', hosts: { 'https://example.com': { intervalMs: 2000 } } })

const client = got.extend(paceGot(pacer)) // got: promises, streams, retries, redirects, pages
paceAxios(axios, pacer) // axios: returns eject()
setGlobalDispatcher(getGlobalDispatcher().compose(paceUndici(pacer))) // undici, and Node's own fetch
