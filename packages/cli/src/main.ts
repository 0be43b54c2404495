#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { printableLines } from './printable.ts'
import { runProgram } from './program.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

// Core warns of policies through the process; to a user of the command line that is a line like any other.
process.removeAllListeners('warning')
const warned = new Set<string>()
process.on('warning', ({ message }) => {
  if (!warned.has(message)) process.stderr.write(printableLines([`hostpace: warning: ${message}`]))
  warned.add(message)
})

process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // `hostpace ... | head` closes the pipe early.
  if (code === 'EPIPE') process.exit()
  process.stderr.write(printableLines([`hostpace: the output cannot be written: ${message}`]))
  process.exit(2)
})
// There is nowhere left to say so.
process.stderr.on('error', () => {})

process.exitCode = await runProgram(process.argv.slice(2), version, {
  stdin: process.stdin,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  errIsTerminal: process.stderr.isTTY === true,
  columns: process.stdout.columns ?? 80,
})
