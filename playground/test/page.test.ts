import { HostLimiter, type Policy } from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { arrivalTimes } from '../src/arrivals.ts'
import type { Side } from '../src/fields.ts'
import { openPlayground, type Playground } from './open-playground.ts'

const opened = await openPlayground()
if (opened === undefined) console.log('playground: there is no Chromium, so the page is not tested')
const { page, address, requests, errors } = opened ?? ({} as Playground)
afterAll(() => opened?.close())

describe.skipIf(opened === undefined)('the page in Chromium', () => {
  beforeEach(async () => {
    await page.goto('about:blank')
    await page.goto(address)
  })

  test('it needs nothing but its one file, and nothing goes wrong in it', async () => {
    expect(requests.filter((url) => !url.startsWith(address) && !/^(data:|about:)/.test(url))).toEqual([])
    expect(errors).toEqual([])
  })

  test('the first view is the forty-links problem', async () => {
    expect(await columnOf('a')).toMatchObject({
      'smallest gap': '0 ms',
      'worst 10 s': '40, limit 5',
      'too early or too many': '39 of 40',
    })
    expect(await columnOf('b')).toMatchObject({ 'smallest gap': '2 s', 'worst 10 s': '5, limit 5' })
    expect(await page.$$eval('circle', (dots) => dots.length)).toBe(80)
    expect(await page.$$eval('.limit-label', (labels) => labels.map(({ textContent }) => textContent))).toEqual([
      'limit 5',
      'limit 5',
    ])
    await expectDrawn('a', departuresOf({ rate: 0.5, capacity: 40, justification: 'why not' }))
    await expectDrawn('b', departuresOf({ intervalMs: 2000 }))
  })

  test('a slider moves by keyboard, and the picture follows as core has it', async () => {
    await page.focus('[data-slides="b.interval"]')
    for (let press = 0; press < 5; press++) await page.keyboard.press('ArrowRight')
    expect(await settingOf('b.interval')).toBe('2.5')
    expect(await columnOf('b')).toMatchObject({ 'smallest gap': '2.5 s', 'longest wait': '97.5 s' })
    await expectDrawn('b', departuresOf({ intervalMs: 2500 }))
  })

  test('a slider is dragged to nothing, and the rule is gone', async () => {
    const slider = await page.$('[data-slides="b.interval"]')
    const box = await slider?.boundingBox()
    if (!box) throw new Error('the slider is not to be seen')
    await page.mouse.move(box.x + box.width * 0.5, box.y + box.height / 2)
    await page.mouse.down()
    await page.mouse.move(box.x - 20, box.y + box.height / 2, { steps: 5 })
    await page.mouse.up()
    expect(await settingOf('b.interval')).toBe('')
    expect(await page.$eval('#b-policy', ({ textContent }) => textContent)).toBe('{}')
    expect(await columnOf('b')).toMatchObject({ 'worst 10 s': '40, limit 5', 'average rate': 'all at once' })
  })

  test('quotas, random arrivals and fields that come up with them', async () => {
    expect(await isShown('seed')).toBe(false)
    await page.select('#pattern', 'poisson')
    expect(await isShown('seed')).toBe(true)
    await typeInto('perSecond', '3')
    await typeInto('seed', '9')
    expect(await isShown('a.quotaWindow')).toBe(false)
    await typeInto('a.quota', '12')
    await typeInto('a.quotaWindow', '5')
    await page.select('#a\\.quotaKind', 'counter')
    await typeInto('a.capacity', '3')
    const policy: Policy = {
      rate: 0.5,
      capacity: 3,
      justification: 'why not',
      quotas: [{ limit: 12, windowMs: 5000, window: 'counter' }],
    }
    const times = arrivalTimes({ pattern: 'poisson', count: 40, perSecond: 3, seed: 9, burst: 0, everyMs: 0 })
    await expectDrawn('a', departuresOf(policy, times))
  })

  test('the address holds all that is set, and brings it back', async () => {
    await page.select('#pattern', 'bursts')
    await typeInto('every', '20')
    await typeInto('a.name', 'mine & "yours" <b>')
    await typeInto('hostQuota', '15')
    const [shared, figures] = [page.url(), await figuresOf()]
    await page.goto('about:blank')
    await page.goto(shared)
    expect(await settingOf('every')).toBe('20')
    expect(await page.$eval('#a-title', ({ textContent }) => textContent)).toBe('mine & "yours" <b>')
    expect(await figuresOf()).toEqual(figures)
  })

  test('another address is taken while the page is open', async () => {
    await page.evaluate(`location.hash = ${JSON.stringify(hashOf('b.interval', '3'))}`)
    await page.waitForFunction(`document.querySelector('#b-policy').textContent === '{"intervalMs":3000}'`)
    expect(await settingOf('b.interval')).toBe('3')
  })

  test('what makes no sense is said, and the old picture fades', async () => {
    await typeInto('count', '0')
    const problem = () => page.$eval('#problem', ({ textContent }) => textContent)
    expect(await problem()).toBe("Requests (count) must be a whole number from 1 to 2000, got '0'")
    expect(await page.$eval('body', ({ className }) => className)).toBe('stale')
    await typeInto('count', '3')
    expect(await problem()).toBe('')
    expect(await page.$eval('body', ({ className }) => className)).toBe('')
    await page.goto('about:blank')
    await page.goto(`${address}#${hashOf('speed', 'high')}`)
    expect(await problem()).toBe('there is no speed to set here')
  })

  test('half a number is no empty field, which would take the rule away', async () => {
    await typeInto('b.interval', '2e')
    expect(await page.$eval('#problem', ({ textContent }) => textContent)).toBe(
      "Interval (b.interval) must be a number from 0.001 to 86400, got '?'",
    )
    await page.keyboard.type('0')
    expect(await page.$eval('#b-policy', ({ textContent }) => textContent)).toBe('{"intervalMs":2000}')
  })

  test.each([320, 360, 480, 800])(
    'a window of %i pixels has all of it, and sliders that can be used',
    async (width) => {
      await page.setViewport({ width, height: 800 })
      onTestFinished(() => page.setViewport({ width: 1000, height: 900 }))
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      const sliders = await page.$$eval('input[type=range]', (found) =>
        found.filter((slider) => slider.checkVisibility()).map(({ clientWidth }) => clientWidth),
      )
      expect(Math.min(...sliders)).toBeGreaterThan(75)
    },
  )

  test('every control has a name, and every picture says in words what it shows', async () => {
    const names = await page.$$eval('input:not([hidden]), select', (controls) =>
      controls.map((control) => control.ariaLabel ?? (control as HTMLInputElement).labels?.[0]?.textContent ?? ''),
    )
    expect(names.length).toBeGreaterThan(20)
    expect(names).not.toContain('')
    const told = await page.$$eval('svg', (pictures) => pictures.map((picture) => picture.getAttribute('aria-label')))
    expect(told).toContain('token bucket: at most 40 in any 10 s; the host permits 5')
    expect(told).toContain('leaky bucket: 40 requests came, the last left after 78 s')
  })

  test('light and dark differ', async () => {
    const paper = () => page.$eval('body', (body) => getComputedStyle(body).backgroundColor)
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }])
    expect(await paper()).toBe('rgb(21, 25, 30)')
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }])
    expect(await paper()).toBe('rgb(255, 255, 255)')
  })

  test.each(['light', 'dark'])('all text can be read when it is %s', async (scheme) => {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
    onTestFinished(() => page.emulateMediaFeatures([]))
    const paper = await colourOf('body', 'backgroundColor')
    const tinted = mixed(await colourOf('.too-many', 'fill'), paper, await numberOf('.too-many', 'opacity'))
    const field = await colourOf('#a\\.interval', 'backgroundColor')
    const pairs: [string, Colour, Colour][] = [
      ['text', await colourOf('body', 'color'), paper],
      ['units', await colourOf('.unit', 'color'), paper],
      ['one policy', await colourOf('h2.a', 'color'), paper],
      ['another policy', await colourOf('h2.b', 'color'), paper],
      ['problem', await colourOf('#problem', 'color'), paper],
      ['axis', await colourOf('svg .tick', 'fill'), paper],
      ['limit', await colourOf('.limit-label', 'fill'), tinted],
      ['nothing set', await colourOf('#a\\.interval', 'color', '::placeholder'), field],
    ]
    // WCAG 2.2, success criterion 1.4.3
    for (const [what, text, ground] of pairs) expect({ what, contrast: contrast(text, ground) }).toSatisfy(isReadable)
  })
})

type Colour = readonly number[]

const isReadable = ({ contrast }: { contrast: number }) => contrast >= 4.5

async function colourOf(
  selector: string,
  property: 'color' | 'backgroundColor' | 'fill',
  pseudo?: string,
): Promise<Colour> {
  const text = await page.$eval(selector, (found, name, part) => getComputedStyle(found, part)[name], property, pseudo)
  return (text.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number)
}

function numberOf(selector: string, property: 'opacity'): Promise<number> {
  return page.$eval(selector, (found, name) => Number(getComputedStyle(found)[name]), property)
}

function mixed(over: Colour, under: Colour, opacity: number): Colour {
  return over.map((value, index) => value * opacity + (under[index] as number) * (1 - opacity))
}

function contrast(one: Colour, other: Colour): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

/** Relative luminance as WCAG 2.2 defines it. */
function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((value) => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** When requests leave by core, in seconds, each asked for at its own time on a manual clock. */
function departuresOf(policy: Policy, arrivals: readonly number[] = new Array<number>(40).fill(0)): number[] {
  const clock = new ManualClock()
  const limiter = new HostLimiter(policy, { clock })
  return arrivals.map((arriveMs) => {
    clock.advance(arriveMs - clock.now())
    return (clock.now() + limiter.acquire()) / 1000
  })
}

/** When requests leave by the picture, in seconds: where the dots are among the numbers of the axis. */
async function drawnDepartures(side: Side): Promise<number[]> {
  const dots = await placesOf(`#${side}-departures circle`, 'cx')
  const ticks = await placesOf(`#${side}-departures .tick:not(.level)`, 'x')
  const [first, last] = [ticks[0], ticks.at(-1)]
  if (first === undefined || last === undefined) throw new Error('the axis has no numbers')
  const secondsPerPixel = (Number.parseFloat(last.text) - Number.parseFloat(first.text)) / (last.x - first.x)
  return dots.map(({ x }) => (x - first.x) * secondsPerPixel)
}

function placesOf(selector: string, attribute: string): Promise<{ x: number; text: string }[]> {
  return page.$$eval(
    selector,
    (found, name) => found.map((one) => ({ x: Number(one.getAttribute(name)), text: one.textContent ?? '' })),
    attribute,
  )
}

/** A picture is exact to a fraction of a pixel. */
async function expectDrawn(side: Side, departures: readonly number[]): Promise<void> {
  const drawn = await drawnDepartures(side)
  expect(drawn).toHaveLength(departures.length)
  const errors = drawn.map((seconds, index) => Math.abs(seconds - (departures[index] as number)))
  expect(Math.max(...errors)).toBeLessThan(0.01)
}

function hashOf(name: string, value: string): string {
  const params = new URLSearchParams('pattern=once&count=40&window=10&a.name=a&a.rate=1&b.name=b&b.interval=2')
  params.set(name, value)
  return params.toString()
}

async function typeInto(name: string, text: string): Promise<void> {
  await page.click(`#${name.replace('.', '\\.')}`, { count: 3 })
  await page.keyboard.press('Backspace')
  await page.keyboard.type(text)
}

function settingOf(name: string): Promise<string> {
  return page.$eval(`#${name.replace('.', '\\.')}`, (control) => (control as HTMLInputElement).value)
}

function isShown(name: string): Promise<boolean> {
  return page.$eval(`#${name.replace('.', '\\.')}`, (control) => control.checkVisibility())
}

function figuresOf(): Promise<string[][]> {
  return page.$$eval('#figures tr', (rows) =>
    rows.map((row) => [...row.children].map((cell) => cell.textContent ?? '')),
  )
}

/** The figures of one policy, by the name of the row. */
async function columnOf(side: Side): Promise<Record<string, string>> {
  const rows = await figuresOf()
  return Object.fromEntries(rows.map((cells) => [cells[0], cells[side === 'a' ? 1 : 2]]))
}
