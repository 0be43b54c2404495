#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { runProgram } from './program.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

// Core warns of policies through the process; to a user of the command line that is a line like any other.
process.removeAllListeners('warning')
const warned = new Set<string>()
process.on('warning', ({ message }) => {
  if (!warned.has(message)) process.stderr.write(`hostpace: warning: ${message}\n`)
  warned.add(message)
})

// `hostpace ... | head` closes the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

process.exitCode = await runProgram(process.argv.slice(2), version, {
  stdin: process.stdin,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  errIsTerminal: process.stderr.isTTY === true,
  columns: process.stdout.columns ?? 80,
})
