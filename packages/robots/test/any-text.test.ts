import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseRobots } from '../src/parse-robots.ts'
import { robotsText } from '../src/robots-text.ts'

const url = new URL('https://a.example/some/path?with=a#query')

/** Text that is likely to get somewhere. */
const almostRobots = fc
  .array(
    fc.tuple(
      fc.constantFrom('User-agent', 'Disallow', 'allow', 'Crawl-delay', 'Request-rate', 'Visit-time', 'x'),
      fc.constantFrom(':', ' : ', ' ', '', '#', '::'),
      fc.oneof(
        fc.constantFrom('*', 'mybot', '/', '/*$', '%', '%2', '1/0', '0/0', '-1', '1e999', '.', '9'.repeat(400)),
        fc.double().map(String),
        fc.tuple(fc.double(), fc.double()).map((pair) => pair.join('/')),
        fc.string({ unit: 'binary' }),
      ),
      fc.constantFrom('\n', '\r', '\r\n', ' # 5\n', '\0\n', '\uFEFF\n', ''),
    ),
  )
  .map((lines) => lines.flat().join(''))

function isSound(text: string): boolean {
  const { delayMs, allows } = parseRobots(text, 'mybot')
  expect(delayMs === undefined || (delayMs > 0 && delayMs <= Number.MAX_SAFE_INTEGER)).toBe(true)
  return typeof allows(url) === 'boolean'
}

test('any bytes are read', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => isSound(robotsText(bytes))),
    { numRuns: 500 },
  )
})

test('any text is read', () => {
  fc.assert(fc.property(fc.oneof(almostRobots, fc.string({ unit: 'binary' })), isSound), { numRuns: 3000 })
})

test('a group that allows all is alone in its say, whatever is around it', () => {
  const property = fc.property(almostRobots, fc.string(), (text, path) => {
    const rules = parseRobots(`${text}\nUser-agent: hostpace-test\nAllow: /\n`, 'hostpace-test')
    return rules.allows(new URL(`https://a.example/${encodeURIComponent(path)}`))
  })
  fc.assert(property, { numRuns: 500 })
})
