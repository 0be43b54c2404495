import type { Pacer } from '@hostpace/core'
import { pace } from '@hostpace/fetch'
import { Agent, setGlobalDispatcher } from 'undici'
import { type Answer, type Call, type ClientGroup, orAborted, readBody, timeoutMs } from './client.ts'
import { runningRequests } from './undici.ts'

/**
 * Node's own fetch, whose connections belong to the global dispatcher: here one with time-outs and keep-alive. The
 * fetch adapter of axios sends through it as well.
 */
export function fetchClients(pacer: Pacer, fetch: typeof globalThis.fetch): ClientGroup {
  const agent = new Agent({ headersTimeout: timeoutMs, bodyTimeout: timeoutMs, keepAliveTimeout: 60_000 })
  setGlobalDispatcher(agent)
  const paced = pace(fetch, pacer)

  type Read = (response: Response) => Promise<string | undefined>
  const send = (call: Call, read: Read) => orAborted(ask(call, read), call.signal)

  async function ask(call: Call, read: Read): Promise<Answer> {
    const { url, signal, hostpace } = call
    const response = await paced(url, { ...(signal && { signal }), hostpace })
    if (response.ok) return { status: response.status, text: await read(response) }
    await response.body?.cancel()
    return { status: response.status, text: undefined }
  }

  const common = { isBlind: true, takesOptions: true }
  return {
    clients: [
      { ...common, name: 'fetch', send: (call) => send(call, (response) => response.text()) },
      {
        ...common,
        name: 'fetch, by its stream',
        send: (call) => send(call, ({ body }) => readBody(body as ReadableStream<Uint8Array>, call.onBody)),
      },
    ],
    busy: () => runningRequests(agent),
    close: () => agent.close(),
  }
}
