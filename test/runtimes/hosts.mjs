import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

const dripMs = 50
const robotsPath = '/robots.txt'
const robotsText = 'User-agent: *\nCrawl-delay: 0.2\nDisallow: /*/private\n'

/**
 * Starts the hosts `a` and `b` on 127.0.0.1, which write down who comes. A path is `/<scenario>/<name>`, and the query says
 * how it is answered: `to` a redirect, `status`, `retryAfter`, or `chunks` of a body that comes bit by bit; else with what was
 * asked. Both have a robots.txt, whose visits are of the scenario `robots.txt`. Host `a` also has the files that are given,
 * by path.
 *
 * @param files by path a type and a content
 */
export async function startHosts(files) {
  const hits = []
  let page = newPage()
  const servers = ['a', 'b'].map((host) => {
    let inFlight = 0
    return createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
      const atMs = performance.now()
      response.setHeader('access-control-allow-origin', '*')
      response.setHeader('cache-control', 'no-store')
      const { pathname, searchParams } = new URL(request.url, 'http://host')
      const file = host === 'a' ? files[pathname] : undefined
      if (pathname === '/page') page = newPage()
      if (file) return void response.setHeader('content-type', file.type).end(file.content)
      if (pathname === '/loaded') page.load()
      if (pathname === '/image') await page.loaded
      const [, scenario, name] = pathname.split('/').map(decodeURIComponent)
      const path = pathname === robotsPath ? scenario : name
      if (path === undefined) return void response.end()

      const hit = { scenario, host, method: request.method, path, body: '', atMs, inFlight: ++inFlight }
      hits.push(hit)
      response.on('close', () => inFlight--)
      hit.body = await text(request).catch(() => 'broken off')
      if (pathname === robotsPath) return void response.end(robotsText)
      await answer(response, hit, Object.fromEntries(searchParams))
    })
  })
  const origins = {}
  for (const [index, server] of servers.entries()) {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    origins[index === 0 ? 'a' : 'b'] = `http://127.0.0.1:${server.address().port}`
  }
  return {
    origins,
    /** The requests since the last time, in order. */
    take: () => hits.splice(0),
    close() {
      for (const server of servers) server.close().closeAllConnections()
    },
  }
}

/** What tells the image of a page that its program is done. */
function newPage() {
  let load
  const loaded = new Promise((resolve) => {
    load = resolve
  })
  return { load, loaded }
}

async function answer(response, { method, path, body }, { to, status, retryAfter, chunks }) {
  if (to !== undefined) return void response.writeHead(Number(status ?? 302), { location: to }).end('moved')
  if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter)
  response.statusCode = Number(status ?? 200)
  for (let chunk = 0; chunk < Number(chunks ?? 0) && !response.destroyed; chunk++) {
    response.write(`chunk ${chunk}\n`)
    await sleep(dripMs)
  }
  response.end(chunks === undefined ? JSON.stringify({ method, path, body }) : undefined)
}
