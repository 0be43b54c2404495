import type { RequestOptions as HostpaceOptions } from '@hostpace/core'

export { type PaceSettings, pace } from './pace.ts'

declare module 'undici' {
  namespace Dispatcher {
    interface DispatchOptions {
      /** How this request is paced. */
      hostpace?: HostpaceOptions
    }
  }
}
