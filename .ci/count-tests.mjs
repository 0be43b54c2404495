/**
 * Sums the last test run up; the last line is `N passed, N failed`, alone. A file that could not be loaded counts as
 * one that failed, and so does a run that came to no report.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './pnpm.mjs'

const path = join(root, 'reports/tests.json')
const report = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined
const files = report?.testResults ?? []
const broken = files.filter(({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0)
const failed = report ? report.numFailedTests + broken.length : 1
const skipped = report ? report.numPendingTests + report.numTodoTests : 0

console.log(` Test Files  ${files.filter(({ status }) => status === 'passed').length} passed (${files.length})`)
console.log(`      Tests  ${report?.numPassedTests ?? 0} passed | ${skipped} skipped (${report?.numTotalTests ?? 0})`)
console.log(`${report?.numPassedTests ?? 0} passed, ${failed} failed`)
