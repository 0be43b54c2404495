import type { Pacer } from '@hostpace/core'
import { pace } from '@hostpace/got'
import got, { type Got, type Request } from 'got'
import { TellingAgent } from '../wire.ts'
import { type Answer, type Call, type ClientGroup, readBody, timeoutMs } from './client.ts'

/** got with promises and with streams; some by new connections only. Both repeat by themselves what failed. */
export function gotClients(pacer: Pacer): ClientGroup {
  const agent = new TellingAgent({ keepAlive: true })
  const freshAgent = new TellingAgent({ keepAlive: false })
  const client = got.extend(pace(pacer), { timeout: { request: timeoutMs }, agent: { http: agent } })
  const fresh = client.extend({ agent: { http: freshAgent } })
  const optionsFor = ({ signal, hostpace, retries }: Call) => ({
    ...(signal && { signal }),
    context: { hostpace },
    retry: { limit: retries, backoffLimit: 20 },
  })

  async function viaPromise(instance: Got, call: Call): Promise<Answer> {
    let hasHungUp = false
    const promise = instance(call.url, optionsFor(call))
    promise.on('downloadProgress', ({ transferred }) => {
      if (transferred === 0 || !call.onBody()) return
      hasHungUp = true
      promise.cancel()
    })
    try {
      const { statusCode, body } = await promise
      return { status: statusCode, text: body }
    } catch (error) {
      if (hasHungUp && promise.isCanceled) return { status: 0, text: undefined }
      throw error
    }
  }

  /** The stream of the next attempt is up to whoever listens to `retry`. */
  function viaStream(stream: Request, call: Call): Promise<Answer> {
    return new Promise((resolve, reject) => {
      let status = 0
      stream.once('response', ({ statusCode }) => {
        status = statusCode
      })
      stream.once('retry', (_count: number, _error: unknown, createRetryStream: () => Request) => {
        resolve(viaStream(createRetryStream(), call))
      })
      // After a `retry` this one fails as well, but the promise has gone with the next.
      readBody(stream, call.onBody)
        .then((text) => resolve({ status, text }), reject)
        // got 14 keeps its listener on the signal until the stream is destroyed, even if it has been read to the end.
        .finally(() => stream.destroy())
    })
  }

  const common = { isBlind: false, takesOptions: true }
  return {
    clients: [
      { ...common, name: 'got', send: (call) => viaPromise(client, call) },
      { ...common, name: 'got, no keep-alive', send: (call) => viaPromise(fresh, call) },
      { ...common, name: 'got stream', send: (call) => viaStream(client.stream(call.url, optionsFor(call)), call) },
    ],
    busy: () => agent.busy + freshAgent.busy,
    async close() {
      agent.destroy()
      freshAgent.destroy()
    },
  }
}
