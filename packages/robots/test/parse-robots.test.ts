import { describe, expect, test } from 'vitest'
import { parseRobots } from '../src/parse-robots.ts'

function parse(text: string, agent = 'mybot') {
  const { delayMs, allows } = parseRobots(text, agent)
  return { delayMs, allows: (path: string) => allows(new URL(path, 'https://a.example')) }
}

/** What the rules of one group say to paths: `+` for allowed, `-` for not. */
function verdicts(rules: string, paths: string[]): string[] {
  const { allows } = parse(`user-agent: *\n${rules}`)
  return paths.map((path) => `${allows(path) ? '+' : '-'}${path}`)
}

describe('delays', () => {
  test.each([
    ['Crawl-delay: 5', 5000],
    ['crawl-delay:5', 5000],
    ['CRAWL-DELAY : 5', 5000],
    ['Crawl delay: 5', 5000],
    ['Crawl-delay 5', 5000],
    ['Crawl-delay: 0.25', 250],
    ['Crawl-delay: .5', 500],
    ['Crawl-delay: 1.', 1000],
    ['Crawl-delay: +2', 2000],
    ['Crawl-delay: 1,5', 1500],
    ['Crawl-delay: ,5', 500],
    ['Crawl-delay: 2, please', 2000],
    ['Crawl-delay: 1e9', undefined],
    ['Crawl-delay: 1.5E3', undefined],
    ['Crawl-delay: 12e-1', undefined],
    [`Crawl-delay: ${'1'.repeat(400_000)}e5`, undefined],
    ['Request-rate: 1/2,5', 2500],
    ['Request-rate: 1e3/1', undefined],
    ['Request-rate: 1/1e3', undefined],
    ['Crawl-delay: 10 seconds', 10_000],
    ['Crawl-delay: 10s', 10_000],
    ['Crawl-delay: 4 # wait 2 seconds', 4000],
    ['Crawl-delay: 4#2', 4000],
    ['Crawl-delay: 0', undefined],
    ['Crawl-delay: 0.0', undefined],
    ['Crawl-delay: -5', undefined],
    ['Crawl-delay: NaN', undefined],
    ['Crawl-delay: Infinity', undefined],
    [`Crawl-delay: ${'9'.repeat(400)}`, undefined],
    ['Crawl-delay: 99999999999999999999', Number.MAX_SAFE_INTEGER],
    ['Crawl-delay:', undefined],
    ['Crawl-delay: # 5', undefined],
    ['#Crawl-delay: 5', undefined],
    ['Crawl-delay: soon', undefined],
    ['Crawl-delay: 2\nCrawl-delay: 7\nCrawl-delay: 0', 7000],
    ['Request-rate: 1/30 #note', 30_000],
    ['Request-rate: 1/30s', 30_000],
    ['Request-rate: 1/5m', 300_000],
    ['Request-rate: 1/1H', 3_600_000],
    ['Request-rate: 2/1d', 43_200_000],
    ['Request-rate: 10/1m 0800-1300', 6000],
    ['Request-rate: 1/10 1300 - 1800 # by day', 10_000],
    ['Request-rate: 4/1', 250],
    ['Request-rate: 1 / 2', 2000],
    ['Request-rate: 1/0.5', 500],
    ['Request-rate: 0/30', undefined],
    ['Request-rate: 1/0', undefined],
    ['Request-rate: 0/0', undefined],
    ['Request-rate: -1/3', undefined],
    ['Request-rate: 30', undefined],
    ['Request-rate: soon', undefined],
    ['Crawl-delay: 1\nRequest-rate: 1/3', 3000],
    ['Crawl-delay: 3\nRequest-rate: 1/1', 3000],
    ['Visit-time: 0100 - 0800 #note', undefined],
  ])('%j', (lines, delayMs) => {
    expect(parse(`User-agent: *\n${lines}\n`).delayMs).toBe(delayMs)
  })

  test('E01: inline comments with numbers, two groups for all, Request-rate and Visit-time with spaces', () => {
    const rw = 'User-agent: *\nCrawl-delay: 600\nRequest-rate: 1/30 #note\nVisit-time: 0100 - 0800 #note\n'
    const infochimps =
      'User-agent: *\nDisallow: /a\n\nUser-agent: *\nCrawl-delay: 4 # wait 2 seconds\nRequest-rate: 1/4\n'
    expect([rw, infochimps, 'User-agent: *\nRequest-rate: 1/2 # note'].map((text) => parse(text).delayMs)).toEqual([
      600_000, 4000, 2000,
    ])
  })

  test.each(['\r\n', '\r', '\n'])('E02: a byte-order mark hides nothing, lines end in %j', (end) => {
    expect(parse(['\uFEFFUser-agent: *', 'Crawl-delay: 5', 'Disallow: /x'].join(end)).delayMs).toBe(5000)
  })

  test.each(['', '\n\n', 'User-agent: otherbot\nCrawl-delay: 9\nDisallow: /', 'Crawl-delay: 9\nDisallow: /'])(
    'E08: none in %j, which has no group for the crawler',
    (text) => {
      const { delayMs, allows } = parse(text)
      expect([delayMs, allows('/x')]).toEqual([undefined, true])
    },
  )
})

describe('groups (RFC 9309, section 2.2.1)', () => {
  /** Which of the groups `a`, `b` and so on count, by what they disallow. */
  function groupsOf(text: string, agent?: string): string {
    const { allows } = parse(text, agent)
    return [...'abcd'].filter((name) => !allows(`/${name}`)).join('')
  }

  test.each([
    ['its own, and not that for all', 'User-agent: *\nDisallow: /a\nUser-agent: mybot\nDisallow: /b', 'b'],
    ['the one for all', 'User-agent: *\nDisallow: /a\nUser-agent: other\nDisallow: /b', 'a'],
    ['whatever the case', 'USER-AGENT: MyBot\nDISALLOW: /a', 'a'],
    [
      'all of its own together',
      'User-agent: mybot\nDisallow: /a\nUser-agent: x\nDisallow: /b\nUser-agent: mybot\nDisallow: /c',
      'ac',
    ],
    ['all of those for all together', 'User-agent: *\nDisallow: /a\n\nUser-agent: *\nDisallow: /b', 'ab'],
    ['several names of one group', 'User-agent: x\nUser-agent: mybot\nUser-agent: y\nDisallow: /a', 'a'],
    ['empty lines and comments end none', 'User-agent: mybot\n\n# a\nDisallow: /a\n\n\nDisallow: /b', 'ab'],
    ['a name with a version', 'User-agent: mybot/2.1\nDisallow: /a', 'a'],
    ['a name with a remark', 'User-agent: mybot (the good one)\nDisallow: /a', 'a'],
    ['a name with a comment', 'User-agent: mybot # the good one\nDisallow: /a', 'a'],
    ['a name with a star', 'User-agent: mybot*\nDisallow: /a', 'a'],
    ['a star with a comment', 'User-agent: * # all\nDisallow: /a', 'a'],
    ['not a longer name', 'User-agent: mybots\nDisallow: /a\nUser-agent: mybot-news\nDisallow: /b', ''],
    ['not a shorter name', 'User-agent: my\nDisallow: /a\nUser-agent: m\nDisallow: /b', ''],
    ['not a name with a number', 'User-agent: mybot2\nDisallow: /a', ''],
    ['no name at all', 'User-agent:\nDisallow: /a', ''],
    ['its own that is empty', 'User-agent: *\nDisallow: /a\nUser-agent: mybot\nDisallow:', ''],
    ['its own without rules', 'User-agent: *\nDisallow: /a\nUser-agent: mybot', ''],
    ['rules before any group count for nobody', 'Disallow: /a\nUser-agent: mybot\nDisallow: /b', 'b'],
    [
      'other fields do not end the names',
      'User-agent: mybot\nSitemap: https://a.example/s\nUser-agent: x\nDisallow: /a',
      'a',
    ],
    ['a delay does', 'User-agent: *\nCrawl-delay: 1\nUser-agent: x\nDisallow: /a', ''],
    ['a missing colon is none', 'user-agent mybot\ndisallow /a', 'a'],
    ['a field of the prototype is unknown', 'User-agent: mybot\nconstructor: x\n__proto__: y\nDisallow: /a', 'a'],
    [
      'an agent of the prototype is another',
      'User-agent: __proto__\nDisallow: /a\nUser-agent: constructor\nDisallow: /b',
      '',
    ],
  ])('%s', (_name, text, expected) => {
    expect(groupsOf(text)).toBe(expected)
  })

  test.each([
    ['MJ12bot', 'a'],
    ['archive.org_bot', 'b'],
    ['archive', 'c'],
    ['other.org', ''],
  ])('a name with digits and dots: %s', (agent, expected) => {
    const text = [
      'User-agent: mj12bot/v1.4\nDisallow: /a',
      'User-agent: Archive.org_bot (x)\nDisallow: /b',
      'User-agent: archive\nDisallow: /c',
      'User-agent: other\nDisallow: /d',
    ].join('\n')
    expect(groupsOf(text, agent)).toBe(expected)
  })

  test('the one that names most of the crawler, with its family', () => {
    const text =
      'User-agent: *\nDisallow: /a\nUser-agent: my\nDisallow: /b\nUser-agent: my-bot\nDisallow: /c\nUser-agent: my-bot-news\nDisallow: /d'
    const agents = ['my-bot-news', 'my-bot-images', 'my_bot', 'mybot', 'My-Bot']
    expect(agents.map((agent) => groupsOf(text, agent))).toEqual(['d', 'c', 'b', 'a', 'c'])
  })

  test('the delay is that of its group alone', () => {
    const text = 'User-agent: *\nCrawl-delay: 9\nUser-agent: mybot\nDisallow: /x\nUser-agent: slow\nCrawl-delay: 60'
    expect(['mybot', 'slow', 'other'].map((agent) => parse(text, agent).delayMs)).toEqual([undefined, 60_000, 9000])
  })
})

describe('rules (RFC 9309, sections 2.2.2 and 2.2.3)', () => {
  test.each([
    ['Disallow: /fish', ['-/fish', '-/fish.html', '-/fish/a', '-/fishhead?x', '+/Fish', '+/cat/fish', '+/']],
    ['Disallow: /fish/', ['+/fish', '-/fish/', '-/fish/a?x', '+/fish.html']],
    ['Disallow: /', ['-/', '-/a', '-/?x']],
    ['Disallow:\nAllow:', ['+/', '+/a']],
    ['Disallow: /*.php', ['-/a.php', '-/a/b.php?x=/', '-/a.php5', '+/', '+/windows.PHP']],
    ['Disallow: /*.php$', ['-/a.php', '+/a.php?x', '+/a.php/', '+/a.php5', '-/a/b.php.php']],
    ['Disallow: /fish*.php', ['-/fish.php', '-/fishheads/cat.php?x', '+/Fish.PHP']],
    ['Disallow: /fish*', ['-/fish', '-/fish/a', '+/Fish']],
    ['Disallow: *', ['-/', '-/a']],
    ['Disallow: *.gif', ['-/a.gif', '+/a.jpg']],
    ['Disallow: /a*b*c$', ['-/abc', '-/axbxc', '-/abcbc', '+/abcb', '+/acb', '+/ab']],
    ['Disallow: /a*$', ['-/a', '-/ab']],
    ['Disallow: /ab*b$', ['+/ab', '-/abb']],
    ['Disallow: /a**b', ['-/ab', '-/axb', '+/a']],
    ['Disallow: /$', ['-/', '+/a', '+/?x']],
    ['Disallow: /a$b', ['-/a$b', '+/a', '+/ab']],
    ['Disallow: /*?', ['-/a?x', '-/a?', '+/a']],
    ['Disallow: fish', ['+/fish']],
    // The longest match counts, and of two equally long ones that which allows.
    ['Allow: /p\nDisallow: /', ['+/page', '-/x']],
    ['Disallow: /folder\nAllow: /folder', ['+/folder/page']],
    ['Allow: /page\nDisallow: /*.htm', ['-/page.htm', '+/page']],
    ['Allow: /$\nDisallow: /', ['+/', '-/page.htm']],
    ['Allow: /x/\nDisallow: /x/page.html', ['-/x/page.html', '+/x/', '+/y']],
    // One path in one form, however it is written.
    ['Disallow: /foo/bar/ツ', ['-/foo/bar/%E3%83%84', '-/foo/bar/%e3%83%84', '-/foo/bar/ツ']],
    ['Disallow: /foo/bar/%E3%83%84', ['-/foo/bar/ツ']],
    ['Disallow: /foo/bar/%62%61%7A', ['-/foo/bar/baz', '-/foo/bar/%62%61%7a']],
    ['Disallow: /foo/bar/baz', ['-/foo/bar/%62%61%7A']],
    ['Disallow: /%7Ejoe/', ['-/~joe/', '-/%7ejoe/']],
    ['Disallow: /a%2fb', ['+/a/b', '-/a%2Fb', '-/a%2fb']],
    ['Disallow: /a?b=http://c.d?e&f', ['-/a?b=http://c.d?e&f', '+/a?b=http%3A//c.d?e&f']],
    ['Disallow: /a b', ['-/a b', '-/a%20b']],
    ["Disallow: /a?'|", ["-/a?'|", '-/a?%27%7C']],
    ['Disallow: /100%', ['-/100%', '-/100%25', '-/100%/x']],
    ['Disallow: /%2a', ['-/*', '-/%2A', '+/a']],
    ['Disallow: /a%24', ['-/a$', '-/a$b', '+/a']],
    ['Disallow: /a # not /b', ['-/a', '+/b']],
    ['Disallow: /a#b', ['-/a']],
    ['Disallow: /x', ['+/#/x', '-/x#y']],
  ])('%j', (rules, expected) => {
    expect(
      verdicts(
        rules,
        expected.map((verdict) => verdict.slice(1)),
      ),
    ).toEqual(expected)
  })

  test('credentials and ports are no part of the path', () => {
    const { allows } = parseRobots('User-agent: *\nDisallow: /x', 'mybot')
    expect(['http://u:p@a.example:81/x', 'http://u:p@a.example:81/y'].map((url) => allows(new URL(url)))).toEqual([
      false,
      true,
    ])
  })

  test('no pattern takes long, whatever its stars', () => {
    const stars = `/${'a*'.repeat(50_000)}b`
    const { allows } = parse(`User-agent: *\n${`Disallow: ${stars}\n`.repeat(5)}${' '.repeat(100_000)}x`)
    const startMs = performance.now()
    expect(allows(`/${'a'.repeat(60_000)}`)).toBe(true)
    expect(performance.now() - startMs).toBeLessThan(1000)
  })
})
