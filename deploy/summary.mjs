// Prints the names of skipped and failed tests and the closing line of a test run; exits with 1 when anything failed.
import { readFileSync } from 'node:fs'

const [report, gatesFailed] = process.argv.slice(2)
const counts = { passed: 0, failed: 0, skipped: 0 }
const failures = []

/** Counts a failure, and keeps the first line of its message for the end of the output. */
function fail(name, message) {
  counts.failed += 1
  failures.push(`failed: ${name}${message ? `: ${message.split('\n', 1)[0]}` : ''}`)
}

try {
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'))
  for (const file of testResults) {
    // A file that could not be loaded, or whose hook failed, so that its tests are skipped.
    const failed = file.assertionResults.some(({ status }) => status === 'failed')
    if (file.status === 'failed' && !failed) fail(file.name, file.message || 'a hook failed')
    for (const { status, fullName, failureMessages } of file.assertionResults) {
      if (status === 'passed') counts.passed += 1
      else if (status === 'failed') fail(fullName, failureMessages?.[0])
      else {
        counts.skipped += 1
        console.log(`skipped: ${fullName}`)
      }
    }
  }
} catch (error) {
  fail('no test report', error.message)
}
if (gatesFailed === '1' && counts.failed === 0) fail('a gate: format, lint, types or coverage (see above)')
for (const line of failures) console.log(line)
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
process.exitCode = counts.failed > 0 ? 1 : 0
