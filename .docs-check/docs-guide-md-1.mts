import { createPacer } from '@hostpace/core'
import { pace } from '@hostpace/got'
import got from 'got'

const pacer = createPacer({ rate: '5r/s' })
const client = got.extend(pace(pacer))
