import { escapeMarkup } from '../escape-markup.ts'

type Attributes = Record<string, string | number>

/** One SVG element as text. Numbers are cut to two decimals; text in attributes is escaped, children are taken as they are. */
export function element(name: string, attributes: Attributes = {}, ...children: string[]): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeMarkup(format(value))}"`)
  const start = `<${name}${written.join('')}`
  return children.length === 0 ? `${start}/>` : `${start}>${children.join('')}</${name}>`
}

export function group(attributes: Attributes, ...children: string[]): string {
  return element('g', attributes, ...children)
}

export function text(x: number, y: number, content: string, attributes: Attributes = {}): string {
  return element('text', { x, y, ...attributes }, escapeMarkup(content))
}

export function line(x1: number, y1: number, x2: number, y2: number, attributes: Attributes = {}): string {
  return element('line', { x1, y1, x2, y2, ...attributes })
}

/** Something to read when the pointer rests on the element that it is put into. */
export function tooltip(content: string): string {
  return element('title', {}, escapeMarkup(content))
}

function format(value: string | number): string {
  return typeof value === 'number' ? String(Math.round(value * 100) / 100) : value
}
