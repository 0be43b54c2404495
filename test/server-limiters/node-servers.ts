import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import fastifyRateLimit from '@fastify/rate-limit'
import express from 'express'
import { type Options, rateLimit } from 'express-rate-limit'
import fastify from 'fastify'
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'

/** A server with a limiter of its own. */
export interface LimitedServer {
  readonly origin: string
  close(): Promise<void>
}

/** Every window lets so many requests go. */
export interface Window {
  readonly limit: number
  readonly windowMs: number
}

export function startExpress({ limit, windowMs }: Window, options: Partial<Options>): Promise<LimitedServer> {
  const app = express()
  app.use(rateLimit({ limit, windowMs, ...options }))
  app.get('/', (_request, response) => void response.send('ok'))
  return listen(app)
}

export async function startFastify({ limit, windowMs }: Window): Promise<LimitedServer> {
  const app = fastify()
  await app.register(fastifyRateLimit, { max: limit, timeWindow: windowMs })
  app.get('/', () => 'ok')
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  return { origin, close: () => app.close() }
}

/** Its headers as its documentation suggests them. */
export function startFlexible({ limit, windowMs }: Window): Promise<LimitedServer> {
  const limiter = new RateLimiterMemory({ points: limit, duration: windowMs / 1000 })
  return listen(async (request, response) => {
    const tell = ({ msBeforeNext, remainingPoints }: RateLimiterRes) => {
      response.setHeader('X-RateLimit-Limit', limit)
      response.setHeader('X-RateLimit-Remaining', remainingPoints)
      response.setHeader('X-RateLimit-Reset', Math.ceil((Date.now() + msBeforeNext) / 1000))
    }
    try {
      tell(await limiter.consume(request.socket.remoteAddress ?? ''))
      response.end('ok')
    } catch (refusal) {
      tell(refusal as RateLimiterRes)
      response.setHeader('Retry-After', Math.ceil((refusal as RateLimiterRes).msBeforeNext / 1000))
      response.writeHead(429).end('slow down')
    }
  })
}

async function listen(handler: RequestListener): Promise<LimitedServer> {
  const server: Server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
