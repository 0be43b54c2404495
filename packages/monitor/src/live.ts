/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type { Departure, Row, Update } from './update.ts'

/**
 * What runs in the page. It is sent as its own text, so it may use nothing from outside of itself but types.
 *
 * Host names and reasons can be any text. They are only ever set as text, never as markup, which the page's policy
 * forbids besides.
 */
export function live(): void {
  const perPage = 50
  const stripMs = 60_000
  const mostMarks = 1000
  const colours: Readonly<Record<string, string>> = {
    none: '#8a8f98',
    interval: '#3b82f6',
    burst: '#65a30d',
    quota: '#a855f7',
    adaptive: '#f59e0b',
    published: '#14b8a6',
    pause: '#ef4444',
    concurrency: '#ec4899',
  }

  interface Mark {
    readonly atMs: number
    readonly layer: string
  }

  const rows = new Map<string, Row>()
  const marks = new Map<string, Mark[]>()
  let allMarks: Mark[] = []
  let hosts = 0
  let page = 0
  /** How far this page's clock is ahead of the monitor's. */
  let aheadMs = 0

  const state = byId('state')
  const filter = byId<HTMLInputElement>('filter')
  const order = byId<HTMLSelectElement>('order')
  const body = byId('hosts').querySelector('tbody') as HTMLElement
  const layers = byId('layers').querySelector('tbody') as HTMLElement
  const lines = Array.from({ length: perPage }, newLine)

  filter.addEventListener('input', () => turnTo(0))
  order.addEventListener('change', () => turnTo(0))
  byId('previous').addEventListener('click', () => turnTo(page - 1))
  byId('next').addEventListener('click', () => turnTo(page + 1))
  byId('controls').addEventListener('submit', (event) => event.preventDefault())
  setInterval(drawStrips, 250)
  connect()

  function connect(): void {
    const address = new URL(location.href)
    address.searchParams.set('events', '')
    const source = new EventSource(address)
    source.addEventListener('message', ({ data }) => {
      tellState('live', true)
      take(JSON.parse(data) as Update)
    })
    source.addEventListener('error', () => {
      tellState('no connection; what is shown is old', false)
      // Where the browser has given up, for an answer that was no stream, it is tried anew.
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, 2000)
    })
  }

  function tellState(text: string, isLive: boolean): void {
    setText(state, text)
    state.dataset.live = isLive ? 'yes' : 'no'
  }

  function take(update: Update): void {
    if (update.isFirst) rows.clear()
    for (const row of update.rows) rows.set(row.key, row)
    for (const key of update.gone) {
      rows.delete(key)
      marks.delete(key)
    }
    hosts = update.hosts
    aheadMs = performance.now() - update.atMs
    takeDepartures(update.departures)
    setText(byId('more'), update.more === 0 ? '' : `${update.more} departures of the last update are not drawn`)
    showTotals(update)
    showHosts()
    drawStrips()
  }

  function takeDepartures(departures: readonly Departure[]): void {
    const nowMs = performance.now()
    for (const [key, agoMs, layer] of departures) {
      const mark = { atMs: nowMs - agoMs, layer }
      allMarks.push(mark)
      const own = marks.get(key) ?? []
      own.push(mark)
      marks.set(key, own.slice(-mostMarks))
    }
    const isRecent = ({ atMs }: Mark) => nowMs - atMs < stripMs
    allMarks = allMarks.filter(isRecent).slice(-20 * mostMarks)
    for (const [key, own] of marks) {
      if (own.some(isRecent)) marks.set(key, own.filter(isRecent))
      else marks.delete(key)
    }
  }

  function showTotals({ total }: Update): void {
    const figures: [string, number][] = [
      ['hosts', hosts],
      ['waiting', total.queued],
      ['in flight', total.inFlight],
      ['departed', total.departures],
      ['refused', total.refused],
    ]
    byId('totals').replaceChildren(
      ...figures.map(([name, value]) => element('div', element('dt', name), element('dd', value.toLocaleString('en')))),
    )
    const waits = Object.entries(total.waits).map(([layer, { count, ms }]) => {
      const sample = element('i')
      sample.dataset.layer = layer
      sample.style.background = colourOf(layer)
      const name = element('td', sample, layer)
      return element('tr', name, element('td', count.toLocaleString('en')), cell(ms), cell(ms / count))
    })
    layers.replaceChildren(...waits)
  }

  function cell(ms: number): HTMLElement {
    return element('td', duration(ms))
  }

  function turnTo(wanted: number): void {
    page = wanted
    showHosts()
    drawStrips()
  }

  function showHosts(): void {
    const found = matching()
    page = Math.max(0, Math.min(page, Math.ceil(found.length / perPage) - 1))
    const first = page * perPage
    const shown = found.slice(first, first + perPage)
    lines.forEach((line, index) => {
      line.show(shown[index])
    })
    const isAll = rows.size === hosts
    const range = shown.length === 0 ? 'none' : `${first + 1} to ${first + shown.length} of ${found.length}`
    setText(byId('range'), isAll ? range : `${range}; ${hosts - rows.size} more hosts are not sent`)
    byId<HTMLButtonElement>('previous').disabled = page === 0
    byId<HTMLButtonElement>('next').disabled = first + perPage >= found.length
  }

  function matching(): Row[] {
    const wanted = filter.value.trim().toLowerCase()
    const found = [...rows.values()].filter(({ key }) => key.toLowerCase().includes(wanted))
    const byKey = (a: Row, b: Row) => (a.key < b.key ? -1 : 1)
    if (order.value === 'key') return found.sort(byKey)
    return found.sort(
      (a, b) =>
        Number(b.heldUntilMs > 0) - Number(a.heldUntilMs > 0) ||
        b.queued - a.queued ||
        (marks.get(b.key)?.length ?? 0) - (marks.get(a.key)?.length ?? 0) ||
        b.departures - a.departures ||
        byKey(a, b),
    )
  }

  /** A line of the table. The lines stay, and only what is in them changes. */
  function newLine(): { show(row: Row | undefined): void; draw(nowMs: number): void } {
    const cells = Array.from({ length: 8 }, () => element('td'))
    const strip = element('canvas') as HTMLCanvasElement
    const line = element('tr', ...cells, element('td', strip))
    let shown: string | undefined
    return {
      show(row) {
        shown = row?.key
        if (row === undefined) {
          line.remove()
          return
        }
        if (line.parentNode === null) body.append(line)
        line.dataset.held = row.heldUntilMs > 0 ? 'yes' : 'no'
        const texts = [
          row.key,
          String(row.queued),
          String(row.inFlight),
          String(row.departures),
          String(row.refused),
          textOfWaits(row),
          textOfHold(row),
          row.learned ?? '',
        ]
        texts.forEach((text, index) => {
          setText(cells[index] as HTMLElement, text)
        })
      },
      draw(nowMs) {
        if (shown !== undefined) draw(strip, marks.get(shown) ?? [], nowMs)
      },
    }
  }

  function textOfHold({ heldUntilMs, holdReason }: Row): string {
    if (heldUntilMs === 0) return ''
    const leftMs = Math.max(0, heldUntilMs + aheadMs - performance.now())
    return `${duration(1000 * Math.ceil(leftMs / 1000))}: ${holdReason ?? 'not known why'}`
  }

  function textOfWaits({ waits }: Row): string {
    return Object.entries(waits)
      .map(([layer, { count, ms }]) => `${layer} ${count}: ${duration(ms)}`)
      .join(', ')
  }

  function drawStrips(): void {
    const nowMs = performance.now()
    draw(byId<HTMLCanvasElement>('strip'), allMarks, nowMs)
    for (const line of lines) line.draw(nowMs)
  }

  /** One stroke for each departure, the present at the right. */
  function draw(canvas: HTMLCanvasElement, own: readonly Mark[], nowMs: number): void {
    const scale = devicePixelRatio
    const width = Math.round(canvas.clientWidth * scale)
    const height = Math.round(canvas.clientHeight * scale)
    if (canvas.width !== width) canvas.width = width
    if (canvas.height !== height) canvas.height = height
    const pen = canvas.getContext('2d')
    if (pen === null) return
    pen.clearRect(0, 0, width, height)
    for (const { atMs, layer } of own) {
      pen.fillStyle = colourOf(layer)
      pen.fillRect(Math.round((1 - (nowMs - atMs) / stripMs) * width), 0, Math.max(1, scale), height)
    }
  }

  function colourOf(layer: string): string {
    return colours[layer] ?? '#000'
  }

  function duration(ms: number): string {
    if (ms < 1000) return `${Math.round(ms)} ms`
    if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
    if (ms < 3_600_000) return `${(ms / 60_000).toFixed(1)} min`
    return `${(ms / 3_600_000).toFixed(1)} h`
  }

  function setText(target: HTMLElement, text: string): void {
    if (target.textContent !== text) target.textContent = text
  }

  function element(name: string, ...content: (string | HTMLElement)[]): HTMLElement {
    const made = document.createElement(name)
    made.append(...content)
    return made
  }

  function byId<T extends HTMLElement>(id: string): T {
    return document.getElementById(id) as T
  }
}
