import { scenarios } from './scenarios.mjs'

/**
 * Acts scenarios, one after the other.
 *
 * @param packages what the packages export
 * @param origins of the hosts `a` and `b`
 * @param wanted the numbers of the scenarios, with commas between
 * @returns by the number of the scenario what went wrong, or `''` if nothing did
 */
export async function play(packages, origins, wanted, isBrowser) {
  const [a, b] = ['a', 'b'].map((host) => (index) => (path, query) => urlOf(`${origins[host]}/${index}/${path}`, query))
  // The first request to a host also waits for its connection.
  for (const host of [a, b]) await (await fetch(host('start')('warm'))).text()
  const failures = {}
  for (const index of wanted.split(',')) {
    try {
      await scenarios[index].act({ ...packages, a: a(index), b: b(index), isBrowser })
      failures[index] = ''
    } catch (error) {
      failures[index] = String(error?.stack ?? error)
    }
  }
  return failures
}

function urlOf(address, query = {}) {
  const url = new URL(address)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url.href
}
