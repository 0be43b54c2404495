import { escapeMarkup } from '../escape-markup.ts'

/** One page of a site; `path` starts with a slash and ends with `.html`. */
export interface Page {
  path: string
  title: string
  /** The group that the index lists it under. */
  group: string
  /** Paragraphs of plain text. */
  paragraphs: string[]
  /** Where else a reader may want to go: absolute or relative. */
  seeAlso?: { href: string; text: string }[]
}

export interface Site {
  title: string
  introduction: string
  pages: Page[]
  /** Pages that are there without any other page of the site saying so. */
  unlisted?: Page[]
}

/** The HTML of every page by path, `/index.html` among them. */
export function renderSite(site: Site): Map<string, string> {
  const files = new Map([['/index.html', renderIndex(site)]])
  for (const [index, page] of site.pages.entries()) {
    files.set(page.path, renderPage(site, page, site.pages[index - 1], site.pages[index + 1]))
  }
  for (const page of site.unlisted ?? []) files.set(page.path, renderPage(site, page))
  return files
}

function renderIndex({ title, introduction, pages }: Site): string {
  const groups = [...new Set(pages.map((page) => page.group))]
  const lists = groups.map((group) => {
    const members = pages.filter((page) => page.group === group)
    const items = members.map((page) => `<li>${link(page.path, page.title)}</li>`)
    return `<h2 id="${slug(group)}">${escapeMarkup(group)}</h2>\n<ul>\n${items.join('\n')}\n</ul>`
  })
  const contents = groups.map((group) => link(`#${slug(group)}`, group)).join(' · ')
  return layout(title, title, `<p>${escapeMarkup(introduction)}</p>\n<p>${contents}</p>\n${lists.join('\n')}`)
}

function renderPage(site: Site, page: Page, before?: Page, after?: Page): string {
  const text = page.paragraphs.map((paragraph) => `<p>${escapeMarkup(paragraph)}</p>`)
  const related = (page.seeAlso ?? []).map(({ href, text }) => `<li>${link(href, text)}</li>`)
  if (related.length > 0) text.push(`<h2>See also</h2>\n<ul>\n${related.join('\n')}\n</ul>`)
  const neighbours = [
    before && `<a rel="prev" href="${escapeMarkup(before.path)}">← ${escapeMarkup(before.title)}</a>`,
    after && `<a rel="next" href="${escapeMarkup(after.path)}">${escapeMarkup(after.title)} →</a>`,
  ]
  return layout(page.title, site.title, `${text.join('\n')}\n<p>${neighbours.filter(Boolean).join(' | ')}</p>`)
}

function layout(title: string, siteTitle: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${escapeMarkup(title)}</title>
<link rel="icon" href="data:,">
<style>body { max-width: 42rem; margin: 2rem auto; font: 1rem/1.6 Georgia, serif; color: #222 }</style>
</head>
<body>
<nav><a href="/index.html">${escapeMarkup(siteTitle)}</a></nav>
<h1>${escapeMarkup(title)}</h1>
${body}
<footer><a href="mailto:keeper@localhost">Write to the keeper</a> · <a href="#top">Top</a></footer>
</body>
</html>
`
}

function link(href: string, text: string): string {
  return `<a href="${escapeMarkup(href)}">${escapeMarkup(text)}</a>`
}

function slug(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
}
