import type { Readable } from 'node:stream'
import { pace } from '@hostpace/axios'
import type { Pacer } from '@hostpace/core'
import axios, { type AxiosInstance, type AxiosResponse } from 'axios'
import { TellingAgent } from '../wire.ts'
import { type Answer, type Call, type ClientGroup, orAborted, readBody, timeoutMs } from './client.ts'

/** axios by its http adapter, with texts and with streams, and by its fetch adapter. */
export function axiosClients(pacer: Pacer, fetch: typeof globalThis.fetch): ClientGroup {
  const agent = new TellingAgent({ keepAlive: true })
  const common = { timeout: timeoutMs, maxRedirects: 10, transformResponse: (data: unknown) => data }
  const http = axios.create({ ...common, adapter: 'http', httpAgent: agent })
  const byFetch = axios.create({ ...common, adapter: 'fetch', env: { fetch } })
  for (const instance of [http, byFetch]) pace(instance, pacer)

  async function viaText(instance: AxiosInstance, call: Call): Promise<Answer> {
    const onDownloadProgress = () => void call.onBody()
    const { status, data } = await withRetries(instance, call, { responseType: 'text', onDownloadProgress })
    return { status, text: data as string }
  }

  async function viaStream(call: Call): Promise<Answer> {
    try {
      const { status, data } = await withRetries(http, call, { responseType: 'stream' })
      return { status, text: await readBody(data as Readable, call.onBody) }
    } catch (error) {
      discardAnswer(error)
      throw error
    }
  }

  return {
    clients: [
      { name: 'axios http', isBlind: false, takesOptions: true, send: (call) => viaText(http, call) },
      { name: 'axios http stream', isBlind: false, takesOptions: true, send: viaStream },
      {
        name: 'axios fetch',
        isBlind: true,
        takesOptions: true,
        send: (call) => orAborted(viaText(byFetch, call), call.signal),
      },
    ],
    busy: () => agent.busy,
    close: async () => agent.destroy(),
  }
}

/** Repeats what failed as axios-retry does: the very config of the error is sent once more. */
async function withRetries(instance: AxiosInstance, call: Call, more: object): Promise<AxiosResponse> {
  const { url, signal, hostpace } = call
  let sending = instance.get(url, { ...(signal && { signal }), hostpace, ...more })
  for (let left = call.retries; ; left--) {
    try {
      return await sending
    } catch (error) {
      if (left === 0 || !axios.isAxiosError(error) || axios.isCancel(error) || !error.config) throw error
      discardAnswer(error)
      sending = instance.request(error.config)
    }
  }
}

/** An error may hold a response that nobody has read, and with it a place. */
function discardAnswer(error: unknown): void {
  if (!axios.isAxiosError(error)) return
  const data = error.response?.data as { destroy?: () => void } | undefined
  if (typeof data?.destroy === 'function') data.destroy()
}
