import { createPacer, type Pacer, type PacerOptions } from '@hostpace/core'
import { createMonitor, type Monitor } from '@hostpace/monitor'
import type { Page } from 'puppeteer-core'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { findChromium, launch, open } from './browser.ts'
import { countListeners } from './viewing.ts'

const executablePath = findChromium()
if (executablePath === undefined) console.log('monitor: there is no Chromium, so the page is not opened')
const launched = executablePath === undefined ? undefined : await launch(executablePath)
afterAll(() => launched?.quit())

/** A pacer on the real clock, which is closed when the test is over. */
function paced(options: PacerOptions): { pacer: Pacer; monitor: Monitor; listeners: () => number } {
  const pacer = createPacer(options)
  onTestFinished(() => pacer.close())
  const listeners = countListeners(pacer)
  return { pacer, monitor: createMonitor(pacer, { intervalMs: 100 }), listeners }
}

/** Asks for a host again and again, several at once, until the test is over. */
function load(pacer: Pacer, url: string, atOnce: number): void {
  let isOver = false
  onTestFinished(() => {
    isOver = true
  })
  const worker = async () => {
    while (!isOver) await pacer.run(url, () => ({ status: 200 }))
  }
  for (let count = 0; count < atOnce; count++) worker().catch(() => {})
}

/** The texts of each line of the table of hosts. */
function lines(page: Page): Promise<string[][]> {
  const expression = `[...document.querySelectorAll('#hosts tbody tr')].map((line) => [...line.cells].map((cell) => cell.textContent))`
  return page.evaluate(expression) as Promise<string[][]>
}

function text(page: Page, selector: string): Promise<string> {
  return page.evaluate(`document.querySelector('${selector}').textContent`) as Promise<string>
}

/** How many pixels of a canvas are drawn on. */
function drawn(page: Page, selector: string): Promise<number> {
  return page.evaluate(`(() => {
    const canvas = document.querySelector('${selector}')
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    return data.filter((value, index) => index % 4 === 3 && value > 0).length
  })()`) as Promise<number>
}

const inTime = { timeout: 20_000 }

const isState = (start: string) => `document.querySelector('#state').textContent.startsWith('${start}')`

describe.skipIf(launched === undefined)('the page in Chromium', () => {
  const browser = launched?.browser as NonNullable<typeof launched>['browser']

  test('shows a pacer under load as it goes on', async () => {
    const hosts = { 'https://held.example': { rate: 100 }, 'https://even.example': { intervalMs: 50 } }
    const { pacer, monitor, listeners } = paced({ rate: 50, hosts })
    for (const [host, atOnce] of Object.entries({ even: 5, burst: 20 })) load(pacer, `https://${host}.example`, atOnce)
    pacer.pause('https://held.example', 600_000, 'maintenance until noon')
    load(pacer, 'https://held.example', 3)
    pacer.observe('https://taught.example', {
      status: 200,
      headers: { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '59', 'x-ratelimit-reset': '60' },
    })
    const { page, problems, foreign } = await open(browser, monitor)

    await page.waitForFunction(`document.querySelectorAll('#hosts tbody tr').length === 4`, inTime)
    await page.waitForFunction(`document.querySelector('#layers').textContent.includes('interval')`, inTime)
    await page.waitForFunction(`document.querySelector('#hosts').textContent.includes('59 of 60 left')`, inTime)
    const byHost = new Map((await lines(page)).map(([key, ...cells]) => [key, cells]))
    expect([...byHost.keys()][0]).toBe('https://held.example')
    expect(byHost.get('https://held.example')).toMatchObject({
      0: '3',
      2: '0',
      5: expect.stringMatching(/^\d+\.\d min: maintenance until noon$/),
    })
    expect(byHost.get('https://taught.example')?.[6]).toContain('59 of 60 left')
    expect(byHost.get('https://even.example')?.[4]).toMatch(/^interval \d+: /)
    expect(byHost.get('https://burst.example')?.[4]).toMatch(/^burst \d+: /)

    const departed = Number(byHost.get('https://even.example')?.[2])
    await page.waitForFunction(
      `[...document.querySelectorAll('#hosts tbody tr')].some(({ cells }) => cells[0].textContent === 'https://even.example' && Number(cells[3].textContent) > ${departed + 5})`,
      inTime,
    )
    expect(await drawn(page, '#strip')).toBeGreaterThan(0)
    expect(await drawn(page, 'tr[data-held=no] canvas')).toBeGreaterThan(0)
    expect(await drawn(page, 'tr[data-held=yes] canvas')).toBe(0)
    expect(await text(page, '#state')).toBe('live')
    expect([problems, foreign]).toEqual([[], []])

    expect(listeners()).toBeGreaterThan(0)
    await page.goto('about:blank')
    await vi.waitFor(() => expect(listeners()).toBe(0), inTime)
  })

  test('markup in host names and reasons is text', async () => {
    const attacks = [
      '<img src=x onerror="alert(1)">',
      '</script><script>alert(2)</script>',
      '"><svg onload=alert(3)>',
      "javascript:alert('4')",
      '<iframe srcdoc="<script>parent.alert(5)</script>"></iframe>',
      '{{constructor.constructor("alert(6)")()}}',
      'data: x\n\nevent: error\ndata: y',
      '__proto__',
    ]
    const { pacer, monitor } = paced({ rate: 100, keyBy: (url) => decodeURIComponent(url.hash.slice(1)) })
    const urlOf = (key: string) => `https://a.example/#${encodeURIComponent(key)}`
    for (const key of attacks) await pacer.run(urlOf(key), () => {})
    const { page, problems, foreign } = await open(browser, monitor)
    await page.waitForFunction(`document.querySelectorAll('#hosts tbody tr').length === ${attacks.length}`, inTime)
    for (const key of attacks) pacer.pause(urlOf(key), 60_000, `because ${key}`)
    await page.waitForFunction(`document.querySelectorAll('tr[data-held=yes]').length === ${attacks.length}`, inTime)
    const shown = await lines(page)
    expect(shown.map(([key]) => key).sort()).toEqual([...attacks].sort())
    for (const [key, ...cells] of shown) expect(cells[5]).toContain(`because ${key}`)
    expect(await page.evaluate(`document.querySelectorAll('img, svg, iframe, script').length`)).toBe(1)
    expect([problems, foreign]).toEqual([[], []])
  })

  test('an attack that got into the page would be stopped by its policy', async () => {
    const { monitor } = paced({ rate: 100 })
    const { page, problems } = await open(browser, monitor)
    const attack = (script: string) => page.evaluate(`(() => { ${script} })()`)
    await expect(attack(`document.body.innerHTML = '<b>x</b>'`)).rejects.toThrow('TrustedHTML')
    await expect(attack(`document.createElement('img').setAttribute('onerror', 'x')`)).rejects.toThrow('TrustedScript')
    const forbidden = (kind: string) => vi.waitFor(() => expect(problems.join()).toContain(kind), inTime)
    await attack(`document.body.append(Object.assign(new Image(), { src: 'https://evil.example/' }))`)
    await forbidden('img-src')
    await attack(`fetch('https://evil.example/').catch(() => {})`)
    await forbidden('connect-src')
  })

  test('two thousand hosts come in pages, can be found, and one that changes is all that is sent', async () => {
    const { pacer, monitor } = paced({ rate: 5, adapt: false })
    const urls = Array.from({ length: 2000 }, (_, index) => `https://h${String(index).padStart(4, '0')}.example`)
    await Promise.all(urls.map((url) => pacer.run(url, () => {})))
    const { page, problems } = await open(browser, monitor)
    await page.waitForFunction(`document.querySelectorAll('#hosts tbody tr').length === 50`, inTime)
    expect(await text(page, '#range')).toBe('1 to 50 of 2000')
    await page.select('#order', 'key')
    expect((await lines(page)).map(([key]) => key)).toEqual(urls.slice(0, 50))
    await page.click('#next')
    expect((await lines(page)).map(([key]) => key)).toEqual(urls.slice(50, 100))
    await page.click('#previous')
    expect(await text(page, '#range')).toBe('1 to 50 of 2000')
    expect(await page.$eval('#previous', (button) => (button as { disabled?: boolean }).disabled)).toBe(true)
    await page.type('#filter', 'H1999')
    expect((await lines(page)).map(([key]) => key)).toEqual(['https://h1999.example'])
    await pacer.run('https://h1999.example', () => {})
    await page.waitForFunction(`document.querySelector('#hosts tbody tr').cells[3].textContent === '2'`, inTime)
    expect(await text(page, '#state')).toBe('live')
    expect(problems).toEqual([])
  })

  test('behind a proxy, under a path with a slash at its end and with a query of its own, it finds its updates', async () => {
    const { pacer, monitor } = paced({ rate: 5 })
    pacer.pause('https://a.example', 59_500)
    const asked: string[] = []
    const { page } = await open(browser, monitor, (request, response) => {
      asked.push(request.url ?? '')
      // The proxy takes its prefix away, so the monitor does not know where the browser has found it.
      monitor.node({ method: request.method, url: request.url?.replace('/behind/proxy', '') }, response)
    })
    await page.goto(new URL('/behind/proxy/pace/?token=a%26b#top', page.url()).href)
    await page.waitForFunction(isState('live'), inTime)
    expect(asked).toContain('/behind/proxy/pace/?token=a%26b&events=')
    // It counts the hold down by itself.
    expect((await lines(page))[0]?.[6]).toMatch(/^(60|5\d)\.0 s: |^1\.0 min: /)
    await page.waitForFunction(
      `/^5\\d.0 s: /.test(document.querySelector('#hosts tbody tr').cells[6].textContent)`,
      inTime,
    )
  })

  test('it says so when the connection is lost, and goes on by itself', async () => {
    const { pacer, monitor } = paced({ rate: 5 })
    await pacer.run('https://a.example', () => {})
    let lose = () => {}
    const { page } = await open(browser, monitor, (request, response) => {
      if (request.url?.includes('events') === true) lose = () => response.destroy()
      monitor.node(request, response)
    })
    await page.waitForFunction(isState('live'), inTime)
    lose()
    await page.waitForFunction(isState('no connection'), inTime)
    await page.waitForFunction(isState('live'), inTime)
    expect((await lines(page)).map(([key]) => key)).toEqual(['https://a.example'])
  })

  test('of a monitor that was closed it asks again, until the program has another', async () => {
    const { pacer, monitor } = paced({ rate: 5 })
    let now = monitor
    const statuses: number[] = []
    const { page } = await open(browser, monitor, (request, response) => {
      if (request.url?.includes('events') === true) response.on('close', () => statuses.push(response.statusCode))
      now.node(request, response)
    })
    await page.waitForFunction(isState('live'), inTime)
    monitor.close()
    await page.waitForFunction(isState('no connection'), inTime)
    await vi.waitFor(() => expect(statuses.length).toBeGreaterThan(1), inTime)
    expect(statuses).toEqual([200, 204])
    now = createMonitor(pacer)
    onTestFinished(() => now.close())
    await page.waitForFunction(isState('live'), inTime)
  })

  test('it tries again where a proxy answers in place of the server', async () => {
    const { monitor } = paced({ rate: 5 })
    let isDown = true
    const { page } = await open(browser, monitor, (request, response) => {
      if (isDown && request.url?.includes('events') === true) response.writeHead(502).end('the server restarts')
      else monitor.node(request, response)
    })
    await page.waitForFunction(isState('no connection'), inTime)
    isDown = false
    await page.waitForFunction(isState('live'), inTime)
  })
})
