import { pace } from '@hostpace/got'
import got from 'got'

const client = got.extend(pace({ rate: '10r/s' }))
