import type { Agent, ClientRequest, RequestOptions } from 'node:http'

/** An agent as Node calls it. */
interface CallableAgent extends Agent {
  addRequest(request: ClientRequest, options: RequestOptions): void
}

/** Is told of a request before its agent is; `proceed` hands it to the agent, now or later. */
export type OnRequest = (request: ClientRequest, options: RequestOptions, proceed: () => void) => void

const WATCHED = Symbol('hostpace.watched')

/** Whether this is an agent that `watchAgent` made. */
export function isWatched(agent: unknown): boolean {
  return (agent as { [WATCHED]?: true } | undefined)?.[WATCHED] === true
}

/**
 * Stands in for an agent for the time of one call, and shows each request that is handed to it.
 *
 * In all else it is the agent: the real one makes and keeps the connections, and the request
 * remembers the real one. What is no agent is returned as it is, for Node to complain.
 */
export function watchAgent(agent: Agent, onRequest: OnRequest): Agent {
  const real = agent as CallableAgent
  if (typeof real?.addRequest !== 'function') return agent

  const addRequest = (request: ClientRequest & { agent?: Agent }, options: RequestOptions) => {
    request.agent = agent
    onRequest(request, options, () => {
      // Agents that look for `https` on the stack would not find it when called later.
      if (options.protocol === 'https:') Object.assign(options, { secureEndpoint: true })
      real.addRequest(request, options)
    })
  }
  return new Proxy(agent, {
    get(target, name) {
      if (name === 'addRequest') return addRequest
      return name === WATCHED ? true : Reflect.get(target, name, target)
    },
  })
}
