import { type Pacer, type PacerOptions, type RequestOptions, toPacer } from '@hostpace/core'
import axios, { type AxiosInstance, type AxiosStatic } from 'axios'
import type { CommonJsAxiosInstance } from './commonjs.cts'
import { pacedAdapter } from './paced-adapter.ts'

declare module 'axios' {
  // biome-ignore lint/suspicious/noExplicitAny: declarations merge only with the very type parameters of axios
  interface AxiosRequestConfig<D = any, P = any> {
    /** What hostpace should know of this request. */
    hostpace?: RequestOptions
  }
}

/**
 * Paces the requests of an axios instance, each by the host that it goes to: first hops, redirects and the
 * attempts of retry layers alike.
 *
 * Installing the same pacer twice paces once; different pacers all pace. Instances made by `create` do not
 * inherit it.
 *
 * @param instance `axios` itself or what `axios.create()` gave
 * @param pacerOrOptions a pacer to share, or the options to make one from
 * @returns a function that takes the pacer out of the instance again
 * @throws {PolicyError} if the options make no sense
 * @throws {TypeError} if `instance` is none of axios, or the axios is older than 1.5
 */
export function pace(
  instance: AxiosInstance | CommonJsAxiosInstance,
  pacerOrOptions?: Pacer | PacerOptions,
): () => void {
  if (typeof instance?.interceptors?.request?.use !== 'function') {
    throw new TypeError('instance must be axios or what axios.create() gave')
  }
  const root = rootOf(instance)
  const pacer = toPacer(pacerOrOptions)
  const { request } = (instance as AxiosInstance).interceptors
  // Synchronous, so that the chain of the others stays so if it was.
  const id = request.use(
    (config) => {
      config.adapter = pacedAdapter(root, config.adapter, pacer)
      return config
    },
    null,
    { synchronous: true },
  )
  return () => request.eject(id)
}

/** The axios that has the classes: the one given, else the one that this package finds. */
function rootOf(instance: object): AxiosStatic {
  const root = 'getAdapter' in instance ? (instance as AxiosStatic) : axios
  if (typeof root.getAdapter !== 'function') throw new TypeError('@hostpace/axios needs axios 1.5 or newer')
  return root
}
