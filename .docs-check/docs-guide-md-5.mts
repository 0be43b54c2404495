import { HostLimiter, TokenBucket } from '@hostpace/core'

const limiter = new HostLimiter({ intervalMs: 2000, rate: '10r/s', capacity: 10 })
console.log(limiter.acquire(), limiter.acquire() > 1990) // 0 true

const bucket = new TokenBucket({ rate: '1r/s', capacity: 5 })
console.log(bucket.tryAcquire(5), bucket.tryAcquire()) // true false
