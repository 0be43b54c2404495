/** The program in a web worker, which has the page's address behind its own `#`. */
import { playHere } from './play-in-browser.mjs'

postMessage(await playHere())
