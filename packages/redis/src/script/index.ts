import { createHash } from 'node:crypto'
import { decide } from './decide.ts'
import { forecast } from './forecast.ts'
import { hostState } from './host-state.ts'
import { keys } from './keys.ts'
import { layers } from './layers.ts'
import { notice } from './notice.ts'
import { numbers } from './numbers.ts'
import { slotBook } from './slot-book.ts'
import { stack } from './stack.ts'
import { steps } from './steps.ts'
import { windowLog } from './window-log.ts'

/**
 * The Lua script of one or more calls. Each does to a state what `HostState` in core does, with the same doubles in the same
 * order, so that both find the same departures to the last bit.
 */
export const script: string = [
  numbers,
  keys,
  windowLog,
  layers,
  stack,
  forecast,
  slotBook,
  notice,
  hostState,
  steps,
  decide,
].join('')

/** The name by which a server knows the script. */
export const scriptSha1: string = createHash('sha1').update(script).digest('hex')
