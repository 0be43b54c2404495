import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { pace } from '@hostpace/fetch'
import OpenAI from 'openai'

/** A model that writes word by word. It refuses its first caller for a second. */
const arrivals: number[] = []
let [writing, mostWriting] = [0, 0]
const server = createServer(async (_, response) => {
  if (arrivals.push(performance.now()) === 1) return void response.writeHead(429, { 'retry-after': '1' }).end()
  mostWriting = Math.max(mostWriting, ++writing)
  response.setHeader('content-type', 'text/event-stream')
  for (const content of ['Hello', ' and', ' goodbye']) {
    response.write(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`)
    await sleep(100)
  }
  writing--
  response.end('data: [DONE]\n\n')
}).listen(0, '127.0.0.1')
await once(server, 'listening')

const client = new OpenAI({
  baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
  apiKey: 'none',
  // A stream holds its permit until it is over, so this one writes a single answer at a time.
  fetch: pace(fetch, { intervalMs: 200, concurrency: 1 }),
  // Both count from the call, and so the wait as well: ten minutes are the default.
  timeout: 600_000,
  // The retry waits out Retry-After while the pacer holds the host for as long: it is waited once.
  maxRetries: 2,
})

async function ask(content: string): Promise<string> {
  const messages = [{ role: 'user' as const, content }]
  const stream = await client.chat.completions.create({ model: 'local', messages, stream: true })
  let answer = ''
  for await (const { choices } of stream) answer += choices[0]?.delta.content ?? ''
  return answer
}

const startMs = performance.now()
const answers = await Promise.all(['One?', 'Two?', 'Three?'].map(ask))
const tookMs = performance.now() - startMs
server.close().closeAllConnections()

const gaps = arrivals.slice(1).map((arrival, index) => arrival - (arrivals[index] as number))
console.log(`${arrivals.length} requests, gaps in ms: ${gaps.map((gap) => gap.toFixed(1)).join(', ')}`)
console.log(`${answers.join('; ')}: ${tookMs.toFixed(0)} ms, ${mostWriting} at a time`)
const isHeld = arrivals.length === 4 && gaps.every((gap, index) => gap > (index === 0 ? 900 : 100))
if (!isHeld || mostWriting !== 1 || answers.some((answer) => answer !== 'Hello and goodbye')) process.exitCode = 1
