/**
 * Prints `N passed, N failed, N skipped`: `node scripts/count-tests.mjs STATUS REPORT.json…`, with vitest's JSON reports
 * and the exit status of what ran them. A file that failed before its first test is one failure, and so is a status that
 * no test explains.
 */
import { existsSync, readFileSync } from 'node:fs'

const [status, ...reports] = process.argv.slice(2)
let passed = 0
let failed = 0
let skipped = 0
for (const path of reports.filter((name) => existsSync(name))) {
  const report = JSON.parse(readFileSync(path, 'utf8'))
  passed += report.numPassedTests
  failed += report.numFailedTests
  skipped += report.numPendingTests + report.numTodoTests
  for (const file of report.testResults) {
    const explained = file.assertionResults.some((/** @type {{ status: string }} */ test) => test.status === 'failed')
    if (file.status === 'failed' && !explained) failed += 1
  }
}
if (status !== '0' && failed === 0) failed = 1
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
