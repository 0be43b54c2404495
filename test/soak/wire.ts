import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Agent, type AgentOptions, type ClientRequest, type RequestOptions } from 'node:http'

/** A request that is written next. */
interface Written {
  readonly path: string
}

/** Where `TellingAgent` tells of them. */
const httpChannel = channel('hostpace.soak.write')
/** Where undici does. */
const undiciChannel = 'undici:client:sendHeaders'

/**
 * Calls `listener` with the number of each request right before it is written, whichever client sends it and whether or
 * not a pacer knows of it.
 *
 * @returns what ends it
 */
export function onWire(listener: (id: number) => void): () => void {
  const tell = ({ path }: Written) => {
    const id = idIn(path)
    if (id !== undefined) listener(id)
  }
  const tellOfHttp = (message: unknown) => tell(message as Written)
  const tellOfUndici = (message: unknown) => tell((message as { request: Written }).request)
  subscribe(httpChannel.name, tellOfHttp)
  subscribe(undiciChannel, tellOfUndici)
  return () => {
    unsubscribe(httpChannel.name, tellOfHttp)
    unsubscribe(undiciChannel, tellOfUndici)
  }
}

/** The number of a request, which its URL carries; `undefined` for one that has no part in this. */
export function idIn(url: string): number | undefined {
  const id = /[?&]id=(\d+)/.exec(url)?.[1]
  return id === undefined ? undefined : Number(id)
}

/** As much of an agent as Node calls and its types leave out. */
const { addRequest } = Agent.prototype as Agent & { addRequest(request: ClientRequest, options: RequestOptions): void }

/** An agent of node:http that tells of each request when its socket is there and connected: then it is written. */
export class TellingAgent extends Agent {
  constructor(options?: AgentOptions) {
    super(options)
    Object.assign(this, {
      addRequest: (request: ClientRequest, options: RequestOptions) => {
        const tell = () => httpChannel.publish(request)
        request.prependOnceListener('socket', (socket) => {
          if (socket.connecting) socket.prependOnceListener('connect', tell)
          else tell()
        })
        addRequest.call(this, request, options)
      },
    })
  }

  /** How many of its connections carry a request, and how many requests wait for one. */
  get busy(): number {
    const lists = [...Object.values(this.sockets), ...Object.values(this.requests)]
    return lists.reduce((sum, list) => sum + (list?.length ?? 0), 0)
  }
}
