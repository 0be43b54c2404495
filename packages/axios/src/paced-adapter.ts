import { inOrder, type Pacer, type RequestOptions, readRequestOptions } from '@hostpace/core'
import type { AxiosAdapter, AxiosPromise, AxiosResponse, AxiosStatic, InternalAxiosRequestConfig } from 'axios'
import { cancellation, isCancelled } from './cancellation.ts'
import { sendByFetch } from './fetch-hops.ts'
import { sendByHttp } from './http-hops.ts'
import { targetUrl } from './target-url.ts'
import { Trip } from './trip.ts'

type AdapterConfig = InternalAxiosRequestConfig['adapter']

/** Marks a paced adapter, also for another copy of this package. */
const PACED = Symbol.for('hostpace.axios')

interface PacedAdapter extends AxiosAdapter {
  [PACED]: { readonly adapter: AdapterConfig; readonly pacers: readonly Pacer[] }
}

/**
 * Puts the pacer before what a config says of its adapter. What this pacer paces already is left as it is;
 * where another one does, both pace each hop.
 */
export function pacedAdapter(root: AxiosStatic, adapter: AdapterConfig, pacer: Pacer): AxiosAdapter {
  const before = (adapter as PacedAdapter | undefined)?.[PACED]
  if (before?.pacers.includes(pacer)) return adapter as PacedAdapter
  return makeAdapter(root, before ? before.adapter : adapter, inOrder([...(before?.pacers ?? []), pacer]))
}

function makeAdapter(root: AxiosStatic, adapter: AdapterConfig, pacers: readonly Pacer[]): AxiosAdapter {
  const paced: PacedAdapter = (config) => {
    // Nothing of ours stays in `response.config`.
    if (config.adapter === paced) {
      if (adapter === undefined) delete config.adapter
      else config.adapter = adapter
    }
    return send(root, adapter, pacers, config)
  }
  paced[PACED] = { adapter, pacers }
  return paced
}

async function send(
  root: AxiosStatic,
  adapter: AdapterConfig,
  pacers: readonly Pacer[],
  config: InternalAxiosRequestConfig,
): Promise<AxiosResponse> {
  const inner = root.getAdapter(adapter ?? root.defaults.adapter, config)
  const kind = kindOf(root, inner, config)
  const url = isFree(config, kind, hostpaceOf(root, config)) ? undefined : targetUrl(root, config)
  if (url === undefined) return inner(config)

  const trip = new Trip(pacers, config, url)
  await depart(root, trip, config)
  try {
    const response = await carry(root, trip, inner, kind, config, url)
    trip.arrived(response)
    return response
  } catch (error) {
    const { response } = error as { response?: AxiosResponse }
    if (response !== undefined) trip.arrived(response)
    else trip.failed(root.isCancel(error) ? undefined : error)
    throw trip.refusal === undefined ? error : refused(root, trip.refusal)
  }
}

function hostpaceOf(root: AxiosStatic, config: InternalAxiosRequestConfig): RequestOptions {
  try {
    return readRequestOptions(config.hostpace)
  } catch (error) {
    throw refused(root, error)
  }
}

/** Waits for the first hop. If the caller cancels, axios puts its own error in the place of what is thrown. */
async function depart(root: AxiosStatic, trip: Trip, config: InternalAxiosRequestConfig): Promise<void> {
  const { signal, stop } = cancellation(root, config)
  try {
    await trip.begin(signal)
  } catch (error) {
    throw isCancelled(config) || root.isAxiosError(error) ? error : refused(root, error)
  } finally {
    stop()
  }
  // The adapter of axios would send a request whose signal is aborted.
  if (isCancelled(config)) {
    trip.failed()
    throw new Error('Cancelled before it left')
  }
}

function carry(
  root: AxiosStatic,
  trip: Trip,
  inner: AxiosAdapter,
  kind: AdapterKind,
  config: InternalAxiosRequestConfig,
  url: URL,
): AxiosPromise {
  if (kind === 'http') return sendByHttp(trip, inner, config, url)
  if (kind === 'fetch') return sendByFetch(trip, root, config)
  trip.hop.sent()
  return inner(config)
}

/**
 * The error of a pacer in axios's own class. It has no `config`, because layers that retry would take
 * that for an invitation.
 */
function refused(root: AxiosStatic, error: unknown): Error {
  return root.AxiosError.from(error)
}

type AdapterKind = 'http' | 'fetch' | 'xhr' | 'foreign'

function kindOf(root: AxiosStatic, adapter: AxiosAdapter, config: InternalAxiosRequestConfig): AdapterKind {
  const { adapterName } = adapter as { adapterName?: string }
  if (adapterName === 'http' || adapterName === 'xhr') return adapterName
  return isFetch(root, adapter, config) || isFetch(root, adapter, undefined) ? 'fetch' : 'foreign'
}

/** The fetch adapter is another function for each `env`, and one without any. */
function isFetch(root: AxiosStatic, adapter: AxiosAdapter, config: InternalAxiosRequestConfig | undefined): boolean {
  try {
    return root.getAdapter('fetch', config) === adapter
  } catch {
    return false
  }
}

/**
 * What costs nothing: what the caller says so of, a socket of this machine that has no key, and adapters
 * that are not axios's own, as those of mocks and caches, unless the caller says `skip: false`.
 */
function isFree(config: InternalAxiosRequestConfig, kind: AdapterKind, { skip, key }: RequestOptions): boolean {
  if (skip === true) return true
  if (config.socketPath && key === undefined) return true
  return kind === 'foreign' && skip !== false
}
