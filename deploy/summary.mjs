// Prints the names of skipped tests and the closing line of a test run; exits with 1 when anything failed.
import { readFileSync } from 'node:fs'

const [report, gatesFailed] = process.argv.slice(2)
let counts = { passed: 0, failed: 0, skipped: 0 }
try {
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'))
  for (const file of testResults) {
    if (file.assertionResults.length === 0 && file.status === 'failed') counts.failed += 1
    for (const { status, fullName } of file.assertionResults) {
      if (status === 'passed') counts.passed += 1
      else if (status === 'failed') counts.failed += 1
      else {
        counts.skipped += 1
        console.log(`skipped: ${fullName}`)
      }
    }
  }
} catch (error) {
  console.log(`no test report: ${error.message}`)
  counts = { passed: 0, failed: 1, skipped: 0 }
}
if (gatesFailed === '1' && counts.failed === 0) {
  console.log('a gate failed: format, lint, types or coverage (see above)')
  counts.failed = 1
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
process.exitCode = counts.failed > 0 ? 1 : 0
