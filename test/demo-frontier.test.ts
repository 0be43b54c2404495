import { createPacer } from '@hostpace/core'
import { describe, expect, test } from 'vitest'
import { Frontier } from '../examples/frontier.ts'
import { findLinks } from '../examples/links.ts'

describe('Frontier', () => {
  test('hands every URL out once, and ends when all are finished', async () => {
    await using pacer = createPacer({ rate: 1000 })
    const frontier = new Frontier(pacer)
    const seen: string[] = []
    for (const path of ['1', '2', '1']) frontier.add(`http://a.example/${path}`)
    for await (const task of frontier) {
      seen.push(task.url)
      if (task.url.endsWith('/2')) frontier.add('http://b.example/3')
      frontier.finished(task)
    }
    expect(seen).toEqual(['http://a.example/1', 'http://a.example/2', 'http://b.example/3'])
  })

  test('works on another host while one has to be left alone', async () => {
    await using pacer = createPacer({ rate: 1000, hosts: { 'http://a.example': { intervalMs: 60_000 } } })
    await pacer.wait('http://a.example/')
    const frontier = new Frontier(pacer)
    for (const url of ['http://a.example/1', 'http://b.example/1', 'http://b.example/2']) frontier.add(url)
    const seen: string[] = []
    for await (const task of frontier) {
      seen.push(task.url)
      frontier.finished(task)
      if (seen.length === 2) break
    }
    expect(seen).toEqual(['http://b.example/1', 'http://b.example/2'])
  })

  test('gives its slots back when it is stopped', async () => {
    await using pacer = createPacer({ intervalMs: 60_000 })
    await pacer.wait('http://a.example/')
    const frontier = new Frontier(pacer)
    frontier.add('http://a.example/1')
    const iterator = frontier[Symbol.asyncIterator]()
    const next = iterator.next()
    await new Promise(setImmediate)
    expect((await pacer.peek('http://a.example/')).waitMs).toBeGreaterThan(60_000)
    frontier.stop()
    expect(await next).toMatchObject({ done: true })
    expect((await pacer.peek('http://a.example/')).waitMs).toBeLessThanOrEqual(60_000)
  })

  test('reserves anew when a host is paused', async () => {
    await using pacer = createPacer({ intervalMs: 1000 })
    await pacer.wait('http://a.example/')
    const frontier = new Frontier(pacer)
    frontier.add('http://a.example/1')
    const next = frontier[Symbol.asyncIterator]().next()
    await new Promise(setImmediate)
    pacer.pause('http://a.example/', 60_000)
    await new Promise(setImmediate)
    // The one slot that is held now comes after the pause.
    expect((await pacer.peek('http://a.example/')).waitMs).toBeGreaterThan(60_500)
    frontier.stop()
    await next
  })

  test('tries again what was refused, and skips where a redirect has led', async () => {
    await using pacer = createPacer({ rate: 1000 })
    const frontier = new Frontier(pacer)
    frontier.add('http://a.example/1')
    const attempts: number[] = []
    for await (const task of frontier) {
      attempts.push(task.attempts)
      if (task.attempts < 2) frontier.again(task)
      frontier.skip('http://a.example/2')
      frontier.add('http://a.example/2')
      frontier.finished(task)
    }
    expect(attempts).toEqual([0, 1, 2])
  })
})

test('findLinks finds what a reader could follow', () => {
  const html = `<base href="/docs/"><link href="style.css">
    <a href="a.html#top">A</a> <a href="a.html">A again</a> <a href="/b">B</a> <a href="//c.example/?x=1&amp;y=2">C</a>
    <a href="mailto:x@y">mail</a> <a href="http://[">broken</a> <a rel="nofollow ugc" href="no">no</a> <a>none</a>`
  expect(findLinks(html, 'https://a.example/index.html')).toEqual([
    'https://a.example/docs/a.html',
    'https://a.example/b',
    'https://c.example/?x=1&y=2',
  ])
})
