import axios from 'axios'
import { pace } from '@hostpace/axios'

pace(axios, { rate: '10r/s' })
