import { createPacer, PolicyError } from '@hostpace/core'
import { type RobotsOptions, robots } from '@hostpace/robots'
import { describe, expect, test, vi } from 'vitest'
import { readOptions } from '../src/robots-options.ts'

const asked = { userAgent: 'mybot' }

describe('options that make no sense are refused by name', () => {
  test.each<[path: string, options: unknown]>([
    ['options', undefined],
    ['options', null],
    ['options', 'mybot'],
    ['options.userAgent', {}],
    ['options.userAgent', { userAgent: '' }],
    ['options.userAgent', { userAgent: '*' }],
    ['options.userAgent', { userAgent: 'my bot' }],
    ['options.userAgent', { userAgent: 'mybot 2.0' }],
    ['options.userAgent', { userAgent: ' mybot' }],
    ['options.userAgent', { userAgent: 'mybot.' }],
    ['options.userAgent', { userAgent: '.mybot' }],
    ['options.userAgent', { userAgent: 'mybot/1\r\nx: y' }],
    ['options.userAgent', { userAgent: 'mybot (ü)' }],
    ['options.userAgent', { userAgent: ['mybot'] }],
    ['options.fetch', { ...asked, fetch: 'fetch' }],
    ['options.maxCrawlDelayMs', { ...asked, maxCrawlDelayMs: 0 }],
    ['options.maxCrawlDelayMs', { ...asked, maxCrawlDelayMs: -1 }],
    ['options.maxCrawlDelayMs', { ...asked, maxCrawlDelayMs: Number.NaN }],
    ['options.maxCrawlDelayMs', { ...asked, maxCrawlDelayMs: Number.POSITIVE_INFINITY }],
    ['options.maxCrawlDelayMs', { ...asked, maxCrawlDelayMs: '5' }],
    ['options.maxCrawlDelayMs', { ...asked, onTooLong: 'cap' }],
    ['options.maxCrawlDelayMs', { ...asked, onTooLong: 'skip' }],
    ['options.onTooLong', { ...asked, maxCrawlDelayMs: 5, onTooLong: 'wait' }],
    ['options.enforce', { ...asked, enforce: 'yes' }],
    ['options.enforce', { ...asked, enforce: null }],
    ['options.timeoutMs', { ...asked, timeoutMs: 0 }],
    ['options.timeoutMs', { ...asked, timeoutMs: 2 ** 31 }],
    ['options.timeoutMs', { ...asked, timeoutMs: Number.POSITIVE_INFINITY }],
    ['options.maxCrawlDelay', { ...asked, maxCrawlDelay: 5 }],
  ])('%s of %j', (path, options) => {
    const make = () => robots(options as RobotsOptions)
    expect(make).toThrow(PolicyError)
    expect(make).toThrow(expect.objectContaining({ path, message: expect.stringMatching(/^options[. ]/) }))
  })

  test('the error shows what came', () => {
    expect(() => robots({ userAgent: 'my bot' })).toThrow("such as mybot or mybot/1.0 (a comment), got 'my bot'")
  })
})

describe('the user agent', () => {
  test.each([
    ['mybot', 'mybot'],
    ['My-Bot_x', 'My-Bot_x'],
    ['mybot/1.0', 'mybot'],
    ['mybot/1.0 (+https://my.example/bot)', 'mybot'],
    ['mybot (+https://my.example/bot)', 'mybot'],
    ['mybot(+https://my.example/bot)', 'mybot'],
    ['mybot +https://my.example/bot', 'mybot'],
    ['mybot; for tests', 'mybot'],
    ['MJ12bot/v2.0.0 (http://mj12bot.example/)', 'MJ12bot'],
    ['archive.org_bot', 'archive.org_bot'],
  ])('%s is matched as %s', (userAgent, productToken) => {
    expect(readOptions({ userAgent })).toMatchObject({ userAgent, productToken })
  })
})

test('options that are undefined are as if they were not there', () => {
  const none = { fetch: undefined, maxCrawlDelayMs: undefined, onTooLong: undefined, enforce: undefined }
  expect(readOptions({ ...asked, ...none, timeoutMs: undefined })).toEqual(readOptions(asked))
})

test('fetch is the global one of the moment when robots is made', async () => {
  const first = vi.fn(async () => new Response(''))
  vi.stubGlobal('fetch', first)
  const policyFor = robots(asked)
  vi.stubGlobal('fetch', undefined)
  expect(() => robots(asked)).toThrow(expect.objectContaining({ path: 'options.fetch' }))
  vi.unstubAllGlobals()
  const pacer = createPacer({ policyFor })
  await pacer.peek('https://a.example/')
  expect(first).toHaveBeenCalledOnce()
  await pacer.close()
})

test('it is a policyFor and no more', () => {
  expect(Object.keys(robots(asked))).toEqual(['allowed'])
  expect(Object.keys(robots({ ...asked, enforce: true }))).toEqual(['allowed', 'check'])
})
