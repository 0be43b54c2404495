import { existsSync, readFileSync } from 'node:fs'

/**
 * What a report of vitest says in a word, and each failure, named after `where` it came up.
 *
 * @param output what to show where there is no report
 */
export function resultIn(report, where, output) {
  if (!existsSync(report)) return { text: 'no report', failed: [`${where}: ${output}`] }
  const { testResults, numPassedTests, numFailedTests, success } = JSON.parse(readFileSync(report, 'utf8'))
  const failed = testResults.flatMap(({ assertionResults, message }) => [
    ...assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => `${where}: ${fullName}\n  ${failureMessages[0]?.split('\n')[0]}`),
    ...(message ? [`${where}: ${message}`] : []),
  ])
  if (!success && failed.length === 0) failed.push(`${where}: did not succeed`)
  return { text: failed.length > 0 ? `${numFailedTests} failed` : `${numPassedTests} passed`, failed }
}
