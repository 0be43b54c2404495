import { pace } from '@hostpace/fetch'
import { Octokit } from '@octokit/core'
import { localServer } from './local-server.ts'

const server = await localServer()

// Without a `baseUrl` it would be https://api.github.com.
const octokit = new Octokit({
  baseUrl: new URL(server.url).origin,
  request: { fetch: pace(fetch, { intervalMs: 200 }) },
})

await Promise.all(
  ['a', 'b', 'c', 'd'].map((repo) => octokit.request('GET /repos/{owner}/{repo}', { owner: 'me', repo })),
)
await server.finish(200)
