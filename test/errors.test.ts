/** What each adapter rejects with: the table in docs/guide.md. */
import { pace as paceAxios } from '@hostpace/axios'
import { createPacer, type Pacer, type RequestOptions } from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'
import { pace as paceFetch } from '@hostpace/fetch'
import { pace as paceGot } from '@hostpace/got'
import { pace as paceUndici } from '@hostpace/undici'
import axios from 'axios'
import got from 'got'
import { Agent, request, fetch as undiciFetch } from 'undici'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startTarget } from '../packages/core/src/testing/target-server.ts'

type Send = (url: string, signal?: AbortSignal, hostpace?: RequestOptions) => Promise<unknown>

/** An error and its cause, as far as users tell errors apart by. */
type Shape = readonly [type: string, code: unknown, cause?: readonly [name: string, code: unknown]]

interface Client {
  make(pacer: Pacer): Send
  readonly refused: Shape
  /** `reason` where the very reason of the signal is what comes. */
  readonly aborted: Shape | 'reason'
  readonly reset: Shape
}

const tooLong = ['WaitTooLongError', 'ERR_HOSTPACE_WAIT_TOO_LONG'] as const
const reset = ['Error', 'ECONNRESET'] as const

const clients: Record<string, Client> = {
  got: {
    make: (pacer) => {
      const client = got.extend(paceGot(pacer))
      return (url, signal, hostpace) => client(url, { signal, retry: { limit: 0 }, context: { hostpace } })
    },
    refused: ['RequestError', 'ERR_HOSTPACE_WAIT_TOO_LONG', tooLong],
    aborted: ['AbortError', 'ERR_ABORTED'],
    reset: ['RequestError', 'ECONNRESET', reset],
  },
  'axios, http': {
    make: (pacer) => axiosClient(pacer, 'http'),
    refused: ['AxiosError', 'ERR_HOSTPACE_WAIT_TOO_LONG', tooLong],
    aborted: ['CanceledError', 'ERR_CANCELED'],
    reset: ['AxiosError', 'ECONNRESET', reset],
  },
  'axios, fetch': {
    make: (pacer) => axiosClient(pacer, 'fetch'),
    refused: ['AxiosError', 'ERR_HOSTPACE_WAIT_TOO_LONG', tooLong],
    aborted: ['CanceledError', 'ERR_CANCELED'],
    reset: ['AxiosError', 'ERR_NETWORK', ['SocketError', 'UND_ERR_SOCKET']],
  },
  'undici, request': {
    make: (pacer) => {
      const dispatcher = pacedAgent(pacer)
      return (url, signal, hostpace) => request(url, { dispatcher, signal, hostpace } as object)
    },
    refused: tooLong,
    aborted: 'reason',
    reset: ['SocketError', 'UND_ERR_SOCKET'],
  },
  'undici, fetch': {
    make: (pacer) => {
      const dispatcher = pacedAgent(pacer)
      return (url, signal, hostpace) =>
        undiciFetch(url, { signal, dispatcher: withOptions(dispatcher, hostpace) } as object)
    },
    refused: ['TypeError', undefined, tooLong],
    aborted: 'reason',
    reset: ['TypeError', undefined, ['SocketError', 'UND_ERR_SOCKET']],
  },
  fetch: {
    make: (pacer) => {
      const paced = paceFetch(fetch, pacer)
      return (url, signal, hostpace) => paced(url, { ...(signal && { signal }), hostpace })
    },
    refused: tooLong,
    aborted: 'reason',
    reset: ['TypeError', undefined, ['SocketError', 'UND_ERR_SOCKET']],
  },
}

function axiosClient(pacer: Pacer, adapter: 'http' | 'fetch'): Send {
  const client = axios.create({ adapter, proxy: false })
  paceAxios(client, pacer)
  return (url, signal, hostpace) => client.get(url, { ...(signal && { signal }), ...(hostpace && { hostpace }) })
}

function pacedAgent(pacer: Pacer) {
  const agent = new Agent()
  onTestFinished(() => agent.destroy())
  return agent.compose(paceUndici(pacer))
}

/** fetch hands no options of its own on to a dispatcher. */
function withOptions(dispatcher: ReturnType<typeof pacedAgent>, hostpace: RequestOptions | undefined) {
  return dispatcher.compose((dispatch) => (options, handler) => dispatch({ ...options, hostpace } as never, handler))
}

function shapeOf(error: unknown): Shape {
  const { code, cause } = error as Error & { code?: unknown }
  // An AxiosError takes over the name of its cause.
  const own = [(error as Error).constructor.name, code] as const
  return cause instanceof Error ? [...own, [cause.name, (cause as { code?: unknown }).code]] : own
}

describe.each(Object.entries(clients))('%s', (_name, { make, refused, aborted, reset }) => {
  async function setUp() {
    const target = await startTarget()
    const pacer = createPacer({ clock: new ManualClock(), intervalMs: 1000 })
    onTestFinished(async () => {
      await pacer.close()
      await target.close()
    })
    return { target, pacer, send: make(pacer) }
  }

  const failureOf = (sent: Promise<unknown>) =>
    sent.then(
      () => 'nothing',
      (error: unknown) => error,
    )

  test('refused by the pacer', async () => {
    const { target, pacer, send } = await setUp()
    ;(await pacer.wait(target.origin)).done()
    expect(shapeOf(await failureOf(send(target.url('/ok'), undefined, { maxWaitMs: 5 })))).toEqual(refused)
  })

  test('aborted while it waits', async () => {
    const { target, pacer, send } = await setUp()
    ;(await pacer.wait(target.origin)).done()
    const giveUp = new AbortController()
    const failure = failureOf(send(target.url('/ok'), giveUp.signal))
    await expect.poll(() => pacer.stats().total.queued).toBe(1)
    const reason = new Error('enough')
    giveUp.abort(reason)
    if (aborted === 'reason') expect(await failure).toBe(reason)
    else expect(shapeOf(await failure).slice(0, 2)).toEqual(aborted)
  })

  test('the host breaks off', async () => {
    const { target, send } = await setUp()
    expect(shapeOf(await failureOf(send(target.url('/reset'))))).toEqual(reset)
  })
})
