import { Parser } from 'htmlparser2'

/** The addresses that the links of an HTML page lead to: absolute, without fragment, each once. */
export function findLinks(html: string, pageUrl: string): string[] {
  const links = new Set<string>()
  let base = pageUrl
  const parser = new Parser({
    onopentag(name, { href, rel }) {
      if (href === undefined) return
      if (name === 'base' && URL.canParse(href, pageUrl)) base = new URL(href, pageUrl).href
      if (name !== 'a' || rel?.split(/\s+/).includes('nofollow')) return
      const url = URL.canParse(href, base) ? new URL(href, base) : undefined
      if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return
      url.hash = ''
      links.add(url.href)
    },
  })
  parser.end(html)
  return [...links]
}
