/** The lines that matter of robots.txt files that sites really had, and what they mean, worked out by hand. */
import { describe, expect, test } from 'vitest'
import { parseRobots } from '../src/parse-robots.ts'
import { robotsText } from '../src/robots-text.ts'
import files from './corpus.json' with { type: 'json' }

const encoder = new TextEncoder()

describe.each(files)('$site', ({ site, lines, expected }) => {
  test.each(expected)('to $agent', ({ agent, delayMs, allowed, disallowed }) => {
    for (const end of ['\n', '\r\n', '\r']) {
      const rules = parseRobots(robotsText(encoder.encode(`\uFEFF${lines.join(end)}${end}`)), agent)
      const verdicts = (paths: string[]) =>
        paths.map((path) => `${path} ${rules.allows(new URL(`https://${site}${path}`))}`)
      expect(rules.delayMs ?? null).toBe(delayMs)
      expect(verdicts(allowed)).toEqual(allowed.map((path) => `${path} true`))
      expect(verdicts(disallowed)).toEqual(disallowed.map((path) => `${path} false`))
    }
  })
})

test('at least 40 of them that were not rebuilt have a Crawl-delay', () => {
  const asks = (line: string) => /^crawl-delay:/i.test(line)
  expect(
    files.filter(({ source, lines }) => !source.startsWith('rebuilt') && lines.some(asks)).length,
  ).toBeGreaterThanOrEqual(40)
})
