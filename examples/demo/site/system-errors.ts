import { getSystemErrorMap } from 'node:util'
import type { Page } from './page.ts'

const groups: [group: string, words: RegExp, remark: string][] = [
  [
    'Network',
    /addr|connect|network|host|socket|protocol|message|unreachable|pipe/i,
    'It comes from the network, so the same call may well succeed a little later, at a gentler pace.',
  ],
  [
    'Files',
    /file|directory|path|device|link|seek|stream/i,
    'It comes from the file system, and a look at the path and its permissions usually explains it.',
  ],
  ['Everything else', /./, 'It comes from the system at large; the call that failed tells more than the code does.'],
]

/** A page for each error that the operating system may report, from the table that Node.js carries; at most `limit`. */
export function systemErrorPages(limit: number): Page[] {
  return [...getSystemErrorMap()].slice(0, limit).map(([number, [name, message]]) => {
    const [group, , remark] = groups.find(([, words]) => words.test(message)) as (typeof groups)[number]
    return {
      path: `/errors/${name}.html`,
      title: name,
      group,
      paragraphs: [
        `${name} stands for “${message}”. On this machine its number is ${number}, and Node.js puts the name in the ` +
          `code property of the error that it throws.`,
        remark,
        `Compare by the name. Numbers differ between systems, and the text is for people.`,
      ],
    }
  })
}
