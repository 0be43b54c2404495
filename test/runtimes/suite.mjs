/** Runs the adapter suite on the `fetch` of this runtime; prints what went wrong, by scenario. */
import { adapterScenarios } from '@hostpace/core/testing'
import { fetchDriver } from './driver.ts'

const limitMs = 10_000
/** The others take a dispatcher of undici. */
const transport = 'HTTP/1.1'
const driver = fetchDriver('fetch', fetch)
const failures = {}
for (const { name, suits, run } of adapterScenarios) {
  if (!suits(driver, transport)) continue
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(reject, limitMs, new Error(`takes longer than ${limitMs} ms`))
  })
  try {
    await Promise.race([run(driver, transport), late])
    failures[name] = ''
  } catch (error) {
    failures[name] = String(error?.stack ?? error)
  } finally {
    clearTimeout(timer)
  }
}
console.log(JSON.stringify(failures))
