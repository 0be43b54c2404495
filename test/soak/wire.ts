import { subscribe, unsubscribe } from 'node:diagnostics_channel'

/** What node:http and undici tell of a request that is about to be written. */
const channels = ['http.client.request.start', 'undici:client:sendHeaders']

/**
 * Calls `listener` with the number of each request that goes to the wire, whichever client sends it, so that it can be
 * aborted while it is under way and not while it waits.
 *
 * @returns what ends it
 */
export function onWire(listener: (id: number) => void): () => void {
  const tell = (message: unknown) => {
    const { path } = (message as { request: { path: string } }).request
    const id = /[?&]id=(\d+)/.exec(path)?.[1]
    if (id !== undefined) listener(Number(id))
  }
  for (const channel of channels) subscribe(channel, tell)
  return () => {
    for (const channel of channels) unsubscribe(channel, tell)
  }
}
