import { createPacer } from '../../src/index.ts'

/** Sends requests through a pacer and prints when each left; the last line is when the process ended. */
const [options = '{}', requests = '0'] = process.argv.slice(2)
const startMs = performance.now()
const pacer = createPacer(JSON.parse(options))
for (let request = 0; request < Number(requests); request++) {
  pacer.wait('https://a.example/').then((permit) => {
    permit.done()
    console.log(performance.now() - startMs)
  })
}
process.on('exit', () => console.log(performance.now() - startMs))
