import type { AxiosStatic, InternalAxiosRequestConfig } from 'axios'

/** Only these go to another host: `data:` and the like are answered on the spot. */
const LEAVES = /^https?:\/\//i

/**
 * The URL, without `params`, that a config is for; `undefined` for what goes nowhere and for what axios
 * itself will refuse.
 */
export function targetUrl(root: AxiosStatic, config: InternalAxiosRequestConfig): URL | undefined {
  const { url = '', baseURL, allowAbsoluteUrls } = config
  try {
    const whole =
      baseURL === undefined || (allowAbsoluteUrls !== false && LEAVES.test(url))
        ? url
        : // A bare instance: the static `getUri` of axios would add what its own defaults say.
          new root.Axios({}).getUri({ url, baseURL, ...(allowAbsoluteUrls === false && { allowAbsoluteUrls }) })
    return LEAVES.test(whole) ? new URL(whole) : undefined
  } catch {
    return undefined
  }
}
