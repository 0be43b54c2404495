import { printable } from '../printable.ts'

type Attributes = Readonly<Record<string, string | number>>

/** One element of SVG or HTML as text. Attributes are escaped and numbers cut to two decimals; children are taken as they are. */
export function element(name: string, attributes: Attributes = {}, ...children: string[]): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(shortened(value))}"`)
  return `<${name}${written.join('')}>${children.join('')}</${name}>`
}

/** Text as it may stand in HTML and SVG, also within double quotes. What else XML has no way to write becomes U+FFFD. */
export function escaped(text: string): string {
  return printable(text)
    .replace(/[\ufffe\uffff]/g, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

function shortened(value: string | number): string {
  return typeof value === 'number' ? String(Math.round(value * 100) / 100) : value
}
