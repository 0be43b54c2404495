import { describe, expect, test } from 'vitest'
import { robotsText } from '../src/robots-text.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)

test('E02: the bytes of a byte-order mark are dropped, also twice and encoded twice', () => {
  expect(robotsText(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]))).toBe('a')
  expect(robotsText(bytesOf('\uFEFF\uFEFF\u00EF\u00BB\u00BFa'))).toBe('a')
})

test('what is not UTF-8 spoils no more than itself', () => {
  expect(robotsText(new Uint8Array([0x61, 0xff, 0xc3, 0x0a, 0x62]))).toBe('a\uFFFD\uFFFD\nb')
})

describe('500 KiB', () => {
  const limit = 512_000

  test('count, and all of them', () => {
    const text = `${'a'.repeat(limit - 1)}\n`
    expect(robotsText(bytesOf(text))).toBe(text)
  })

  test.each(['\n', '\r'])('what goes over is ignored from its line on, lines end in %j', (end) => {
    const first = `${'a'.repeat(limit - 10)}${end}`
    expect(robotsText(bytesOf(`${first}Disallow: /${end}`))).toBe(first)
    // A line that is cut would be another one.
    expect(robotsText(bytesOf(`${'é'.repeat(limit / 2)}${end}`))).toBe('')
  })
})

describe('a page of HTML says nothing', () => {
  test.each([
    ['<!DOCTYPE html>\nUser-agent: *\nDisallow: /', ''],
    ['\uFEFF \n<html lang="en"><pre>\nUser-agent: *', ''],
    ['<?xml version="1.0"?><html>', ''],
    ['<p>User-agent: *', 'text/html; charset=utf-8'],
    ['<div>', 'application/xhtml+xml'],
  ])('%j as %j', (text, type) => {
    expect(robotsText(bytesOf(text), type)).toBe('')
  })

  test.each([
    ['User-agent: *', 'text/html'],
    ['<p>\nUser-agent: *', 'text/plain'],
    ['# <html>', 'text/html'],
  ])('but %j as %j is none', (text, type) => {
    expect(robotsText(bytesOf(text), type)).toBe(text)
  })
})
