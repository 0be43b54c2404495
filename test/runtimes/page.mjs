/** The program in a page: it plays the scenarios by itself, or has a worker do so if its address ends with `;worker`. */
import { playHere } from './play-in-browser.mjs'

const failures = location.hash.endsWith(';worker') ? await playInWorker() : await playHere()
document.querySelector('output').textContent = encodeURIComponent(JSON.stringify(failures))
// The page has an image that is not there before this; only then is it loaded.
await fetch('/loaded')

function playInWorker() {
  return new Promise((resolve) => {
    const worker = new Worker(`/worker.js${location.hash}`, { type: 'module' })
    worker.onmessage = ({ data }) => resolve(data)
    worker.onerror = ({ message }) => resolve({ start: `the worker failed: ${message}` })
  })
}
