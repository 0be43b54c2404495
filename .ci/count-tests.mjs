/** Prints how many tests passed in the last run, as the last line. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './pnpm.mjs'

const report = JSON.parse(readFileSync(join(root, 'reports/tests.json'), 'utf8'))
console.log(`${report.numPassedTests} passed, ${report.numFailedTests} failed`)
