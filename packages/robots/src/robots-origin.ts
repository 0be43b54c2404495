import { originOf } from '@hostpace/core'

/**
 * The origin whose robots.txt holds for a URL; `undefined` where there is none, as on a unix socket.
 *
 * @throws {TypeError} if it is not a URL with a host
 */
export function robotsOriginOf(url: string | URL): string | undefined {
  const origin = originOf(url)
  return /^https?:\/\//.test(origin) ? origin : undefined
}

/**
 * The origins whose robots.txt may hold for a key of a pacer, the first first: that which the key is, or, for a key
 * that is a host as of `keyBy: 'host'`, that by https and then that by http. Other keys have none.
 */
export function originsOfKey(key: string): readonly string[] {
  if (isOrigin(key)) return [key]
  if (!looksLikeHost.test(key)) return []
  return ['https', 'http'].map((scheme) => `${scheme}://${key}`).filter(isOrigin)
}

/** Names with a dot, `localhost` and addresses, with a port or without: a key of somebody's own rarely looks so. */
const looksLikeHost = /^(?:[^/:@?#]+\.[^/:@?#]+|localhost|\[[\da-f:.]+\])(?::\d+)?$/

function isOrigin(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text) && originOf(text) === text
}
