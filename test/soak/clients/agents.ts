import type { Agent } from 'node:http'

/** How many connections of an agent carry a request, and how many requests wait for one. */
export function busySockets({ sockets, requests }: Agent): number {
  const lists = [...Object.values(sockets), ...Object.values(requests)]
  return lists.reduce((sum, list) => sum + (list?.length ?? 0), 0)
}
