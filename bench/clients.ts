/** Each client as it is against the same client paced but never waiting: over a stub transport, and over sockets. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent as HttpAgent } from 'node:http'
import { fileURLToPath } from 'node:url'
import { pace as paceAxios } from '@hostpace/axios'
import { createPacer } from '@hostpace/core'
import { pace as paceGot } from '@hostpace/got'
import { pace as paceUndici } from '@hostpace/undici'
import axios from 'axios'
import got from 'got'
import { Agent, type Dispatcher, request, fetch as undiciFetch } from 'undici'
import { type Contender, measure } from './lib/measure.ts'
import { neverWaits } from './lib/policies.ts'
import { median } from './lib/statistics.ts'
import { StubAgent } from './lib/stub-agent.ts'
import { StubDispatcher } from './lib/stub-dispatcher.ts'
import { printTable } from './lib/table.ts'

/** Sends one request and reads the answer. */
type Send = (url: string) => Promise<unknown>

interface Client {
  readonly name: string
  readonly bare: Send
  readonly paced: Send
}

function clientsOver(agent: HttpAgent, dispatcher: Dispatcher): Client[] {
  const pacer = createPacer(neverWaits)
  const bareGot = got.extend({ agent: { http: agent }, retry: { limit: 0 } })
  const pacedGot = bareGot.extend(paceGot(pacer))
  const bareAxios = axios.create({ httpAgent: agent })
  const pacedAxios = axios.create({ httpAgent: agent })
  paceAxios(pacedAxios, pacer)
  const pacedDispatcher = dispatcher.compose(paceUndici(pacer))
  const byGot =
    (client: typeof bareGot): Send =>
    async (url) =>
      client(url).text()
  const byUndici =
    (over: Dispatcher): Send =>
    async (url) =>
      (await request(url, { dispatcher: over })).body.text()
  const byFetch =
    (over: Dispatcher): Send =>
    async (url) =>
      (await undiciFetch(url, { dispatcher: over })).text()
  return [
    { name: 'got', bare: byGot(bareGot), paced: byGot(pacedGot) },
    { name: 'axios', bare: (url) => bareAxios.get(url), paced: (url) => pacedAxios.get(url) },
    { name: 'undici, request', bare: byUndici(dispatcher), paced: byUndici(pacedDispatcher) },
    { name: 'undici, fetch', bare: byFetch(dispatcher), paced: byFetch(pacedDispatcher) },
  ]
}

/** The dispatcher alone: what an adapter adds to undici when nothing else is in the way. */
function dispatching(dispatcher: Dispatcher): Client {
  const by =
    (over: Dispatcher): Send =>
    (url) =>
      new Promise<void>((resolve, reject) => {
        const { origin, pathname } = new URL(url)
        over.dispatch(
          { origin, path: pathname, method: 'GET' },
          {
            onRequestStart() {},
            onResponseStart() {},
            onResponseData() {},
            onResponseEnd: () => resolve(),
            onResponseError: (_controller, error) => reject(error),
          },
        )
      })
  return {
    name: 'undici, dispatch',
    bare: by(dispatcher),
    paced: by(dispatcher.compose(paceUndici(createPacer(neverWaits)))),
  }
}

function oneByOne(name: string, send: Send, url: string): Contender {
  return {
    name,
    async run(times) {
      for (let count = 0; count < times; count++) await send(url)
    },
  }
}

async function overStubs(): Promise<void> {
  const stub = new StubDispatcher()
  const clients = [...clientsOver(new StubAgent(), stub), dispatching(stub)]
  const url = 'http://www.example.com/page'
  const contenders = clients.flatMap(({ name, bare, paced }) => [oneByOne(name, bare, url), oneByOne(name, paced, url)])
  const costs = await measure(contenders, 1000, 25)
  const rows = clients.map(({ name }, index) => {
    const bareUs = (costs[2 * index]?.ns ?? 0) / 1000
    const pacedUs = (costs[2 * index + 1]?.ns ?? 0) / 1000
    return [name, bareUs, pacedUs, pacedUs - bareUs, pacedUs / bareUs]
  })
  printTable('A request over a stub transport', ['', 'us bare', 'us paced', 'us more', 'ratio'], rows)
}

/** Requests per second with ten at a time. */
async function throughput(send: Send, url: string, requests: number): Promise<number> {
  let left = requests
  const worker = async (): Promise<void> => {
    while (left-- > 0) await send(url)
  }
  const startMs = performance.now()
  await Promise.all(Array.from({ length: 10 }, worker))
  return (requests * 1000) / (performance.now() - startMs)
}

async function overSockets(): Promise<void> {
  const server = fork(fileURLToPath(new URL('./clients-server.js', import.meta.url)))
  const [port] = (await once(server, 'message')) as [number]
  const url = `http://127.0.0.1:${port}/page`
  const clients = clientsOver(new HttpAgent({ keepAlive: true, maxSockets: 10 }), new Agent({ connections: 10 }))
  const rows = []
  for (const { name, bare, paced } of clients) {
    const bareRates: number[] = []
    const ratios: number[] = []
    for (let round = -2; round < 15; round++) {
      // Who goes first takes turns as well.
      const order = round % 2 === 0 ? [bare, paced] : [paced, bare]
      const rates = new Map<Send, number>()
      for (const send of order) rates.set(send, await throughput(send, url, 1000))
      if (round < 0) continue
      bareRates.push(rates.get(bare) as number)
      ratios.push((rates.get(paced) as number) / (rates.get(bare) as number))
    }
    rows.push([name, median(bareRates), median(ratios)])
  }
  server.disconnect()
  printTable('Requests per second over loopback sockets, ten at a time', ['', 'bare', 'paced / bare'], rows)
}

await overStubs()
await overSockets()
process.exit(0)
