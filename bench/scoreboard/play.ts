/** One process of a situation: opens the client, warms it up, says so, waits for the start and plays. */
import { once } from 'node:events'
import { peers } from './peers/index.ts'
import type { Part } from './run-cell.ts'
import { situations } from './situations/index.ts'

const {
  situation: row,
  peer: column,
  setup,
  origins,
  warmUpOrigin,
  round,
} = JSON.parse(process.argv[2] as string) as Part
const situation = situations.find(({ name }) => name === row)
const peer = peers.find(({ name }) => name === column)
if (situation === undefined || peer === undefined) throw new Error(`unknown: ${row}, ${column}`)

const client = peer.open(setup)
await client.get(warmUpOrigin)
process.send?.('ready')
await once(process, 'message')
process.disconnect()
await situation.play(client, origins, round)
if (!situation.endsByItself) process.exit()
