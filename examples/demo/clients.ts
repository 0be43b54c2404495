import { pace as paceAxios } from '@hostpace/axios'
import type { Pacer } from '@hostpace/core'
import { pace as paceGot } from '@hostpace/got'
import { pace as paceUndici } from '@hostpace/undici'
import axios from 'axios'
import got from 'got'
import { Agent, interceptors, request } from 'undici'
import type { GetPage } from '../crawler.ts'

/** got, axios and undici, all paced by the same pacer. Each gives its name as the user agent. */
export function pacedClients(pacer: Pacer, { skip = false } = {}): { clients: GetPage[]; close: () => Promise<void> } {
  const { getPage: undiciPage, close } = undiciClient(pacer, skip)
  return { clients: [gotClient(pacer, skip), axiosClient(pacer, skip), undiciPage], close }
}

function gotClient(pacer: Pacer, skip: boolean): GetPage {
  const client = got.extend(paceGot(pacer), { headers: { 'user-agent': 'got' }, throwHttpErrors: false })
  return async (url, reservation, signal) => {
    const response = await client(url, { context: { hostpace: { reservation, skip } }, signal })
    return { status: response.statusCode, url: response.url, html: response.body }
  }
}

function axiosClient(pacer: Pacer, skip: boolean): GetPage {
  const client = axios.create({ headers: { 'User-Agent': 'axios' }, responseType: 'text', validateStatus: () => true })
  paceAxios(client, pacer)
  return async (url, reservation, signal) => {
    const response = await client.get<string>(url, { hostpace: { reservation, skip }, signal })
    return { status: response.status, url: response.request.res.responseUrl, html: response.data }
  }
}

function undiciClient(pacer: Pacer, skip: boolean): { getPage: GetPage; close: () => Promise<void> } {
  const agent = new Agent()
  // The pacer comes before the redirects, so that it sees each hop.
  const dispatcher = agent.compose(paceUndici(pacer), interceptors.redirect({ maxRedirections: 5 }))
  const getPage: GetPage = async (url, reservation, signal) => {
    const options = { dispatcher, headers: { 'user-agent': 'undici' }, hostpace: { reservation, skip }, signal }
    const { statusCode, body, context } = await request(url, options)
    const history = (context as { history?: URL[] } | undefined)?.history
    return { status: statusCode, url: history?.at(-1)?.href ?? url, html: await body.text() }
  }
  return { getPage, close: () => agent.close() }
}
