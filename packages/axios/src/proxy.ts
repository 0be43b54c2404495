import type { InternalAxiosRequestConfig } from 'axios'

const NAMES = ['https_proxy', 'all_proxy', 'npm_config_https_proxy', 'npm_config_proxy']

/** Whether axios may send an https request through a tunnel. Exceptions such as `NO_PROXY` are not looked at. */
export function mayTunnel(config: InternalAxiosRequestConfig): boolean {
  if (config.proxy !== undefined) return config.proxy !== false
  return NAMES.some((name) => process.env[name] || process.env[name.toUpperCase()])
}
