import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { pace } from '@hostpace/undici'
import { Agent, BalancedPool, Client, type Dispatcher, Pool, ProxyAgent, request } from 'undici'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serve, setUp, waiting } from './support.ts'

test('an origin may be a string or a URL, with or without a slash', async () => {
  const { origin } = await serve()
  const { clock, pacer, agent, departures } = setUp()
  const dispatcher = agent.compose(pace(pacer))
  for (const written of [origin, `${origin}/`, new URL(origin), origin.replace('http', 'HTTP')]) {
    const sent = dispatcher.request({ origin: written, path: '/', method: 'GET' })
    await sent.then(({ body }) => body.dump())
    await clock.advanceAsync(1000)
  }
  expect(departures).toEqual([origin, origin, origin, origin])
})

test.each([
  [{ orgin: 'https://a.example' }, 'settings.orgin'],
  [{ origin: 'a.example' }, 'settings.origin'],
  [{ origin: null }, 'settings.origin'],
])('the settings %o are refused', (settings, path) => {
  expect(() => pace({}, settings as never)).toThrow(expect.objectContaining({ name: 'PolicyError', path }))
})

describe.each([
  ['Client', Client],
  ['Pool', Pool],
  ['BalancedPool', BalancedPool],
])('%s', (_name, Kind) => {
  test('is paced where it says its origin once more', async () => {
    const { origin } = await serve()
    const { pacer, departures } = setUp()
    const dispatcher = new Kind(origin).compose(pace(pacer, { origin }))
    await (await dispatcher.request({ path: '/', method: 'GET' } as never)).body.text()
    expect(departures).toEqual([origin])
    await dispatcher.close()
  })

  test('fails rather than going unpaced where nothing says its origin', async () => {
    const { origin, paths } = await serve()
    const { pacer } = setUp()
    const dispatcher = new Kind(origin).compose(pace(pacer))
    const sent = dispatcher.request({ path: '/', method: 'GET' } as never)
    await expect(sent).rejects.toThrow('A paced request needs an origin')
    expect(paths).toEqual([])
    await dispatcher.close()
  })
})

test('behind a proxy the key is the target, and CONNECT adds none', async () => {
  const [a, b] = [await serve(), await serve()]
  const tunnels: string[] = []
  const proxy = createServer()
  proxy.on('connect', ({ url = '' }, socket) => {
    tunnels.push(url)
    const [host, port] = url.split(':')
    const target = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      socket.pipe(target).pipe(socket)
    })
    target.on('error', () => socket.destroy())
    socket.on('error', () => target.destroy())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void proxy.close())
  const { pacer, departures } = setUp()
  const uri = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const agent = new ProxyAgent({ uri, proxyTunnel: true })
  const dispatcher = agent.compose(pace(pacer))
  for (const { origin } of [a, b]) await (await request(origin, { dispatcher })).body.text()
  expect(tunnels).toHaveLength(2)
  expect(departures).toEqual([a.origin, b.origin])
  await agent.destroy()
})

test('a whole URL as path, as one asks of a proxy, is the target', async () => {
  const { origin, paths } = await serve()
  const { pacer, agent, departures } = setUp()
  const path = 'http://far.example/x'
  const { body } = await agent.compose(pace(pacer)).request({ origin, path, method: 'GET' })
  await body.dump()
  expect(paths).toEqual([path])
  expect(departures).toEqual(['http://far.example'])
})

test('keyBy gets the whole URL and the options of the request', async () => {
  const { origin } = await serve()
  const asked: [string, unknown][] = []
  const keyBy = (url: URL, options: unknown) => {
    asked.push([url.href, (options as Dispatcher.DispatchOptions).method])
    return 'one'
  }
  const { pacer, agent, departures } = setUp({ keyBy })
  const dispatcher = agent.compose(pace(pacer))
  await (await dispatcher.request({ origin: `${origin}/`, path: '/x?y=z', method: 'GET' })).body.dump()
  expect(asked).toEqual([[`${origin}/x?y=z`, 'GET']])
  expect(departures).toEqual(['one'])
})

test('CONNECT is not paced', async () => {
  const { pacer, departures } = setUp()
  const proxy = createServer()
  proxy.on('connect', (_request, socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'))
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void proxy.close())
  const origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const client = new Client(origin)
  const { socket } = await client.compose(pace(pacer)).connect({ origin, path: 'far.example:443' })
  socket.destroy()
  expect(departures).toEqual([])
  await client.destroy()
})

test('an address with a servername goes by that, on the port of the address', async () => {
  const { origin } = await serve()
  const { pacer, agent, departures } = setUp()
  const options = { origin, path: '/', method: 'GET', servername: 'a.example' } as const
  await (await agent.compose(pace(pacer)).request(options)).body.text()
  expect(departures).toEqual([origin.replace('127.0.0.1', 'a.example')])
})

test('a name with a servername goes by the name', async () => {
  const { origin } = await serve()
  const { pacer, agent, departures } = setUp()
  const named = origin.replace('127.0.0.1', 'localhost')
  const options = { origin: named, path: '/', method: 'GET', servername: 'a.example' } as const
  await (await agent.compose(pace(pacer)).request(options)).body.text()
  expect(departures).toEqual([named])
})

test('two unix sockets are told apart by a key', async () => {
  const { pacer, clock, departures } = setUp()
  const agents = ['one', 'two'].map((name) => {
    const agent = new Agent({ connect: { socketPath: `/nowhere/${name}.sock` } })
    onTestFinished(() => agent.destroy())
    return { name, dispatcher: agent.compose(pace(pacer)) }
  })
  for (const { name, dispatcher } of agents) {
    const sent = request('http://localhost/', { dispatcher, hostpace: { key: `unix:/nowhere/${name}.sock` } })
    await expect(sent).rejects.toMatchObject({ code: 'ENOENT' })
  }
  expect(departures).toEqual(['unix:/nowhere/one.sock', 'unix:/nowhere/two.sock'])
  const third = request('http://localhost/', { dispatcher: agents[0]?.dispatcher as never })
  await expect(third).rejects.toMatchObject({ code: 'ENOENT' })
  expect(departures[2]).toBe('http://localhost')
  expect(clock.now()).toBe(0)
})

test('an origin that is none is for undici to refuse', async () => {
  const { pacer, agent } = setUp()
  const ask = (dispatcher: Dispatcher) => dispatcher.request({ origin: 'nowhere', path: '/', method: 'GET' })
  const plain: Error = await ask(agent).catch((error) => error)
  await expect(ask(agent.compose(pace(pacer)))).rejects.toThrow(plain)
  expect(pacer.stats().total).toMatchObject({ departures: 0, inFlight: 0 })
})

test.each(['no slash', undefined])('a path that undici refuses takes no slot: %s', async (path) => {
  const { origin, paths } = await serve()
  const { pacer, agent } = setUp()
  const dispatcher = agent.compose(pace(pacer))
  const bad = dispatcher.request({ origin, path: path as string, method: 'GET' })
  await expect(bad).rejects.toMatchObject({ code: 'UND_ERR_INVALID_ARG' })
  const good = dispatcher.request({ origin, path: '/', method: 'GET' })
  await (await good).body.text()
  expect(paths).toEqual(['/'])
  await waiting(pacer, 0)
})
