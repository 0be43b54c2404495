/**
 * The types of axios as a CommonJS module has them: axios declares them a second time for `require()`, and TypeScript
 * takes the two for unrelated. Only a file that is CommonJS itself can name and augment them.
 */
import type { RequestOptions } from '@hostpace/core' with { 'resolution-mode': 'import' }

declare module 'axios' {
  // biome-ignore lint/suspicious/noExplicitAny: declarations merge only with the very type parameters of axios
  interface AxiosRequestConfig<D = any, P = any> {
    /** What hostpace should know of this request. */
    hostpace?: RequestOptions
  }
}

export type { AxiosInstance as CommonJsAxiosInstance } from 'axios'
