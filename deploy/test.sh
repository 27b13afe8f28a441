#!/bin/sh
# The gates, then the suite; the last line is `N passed, N failed, N skipped`. Arguments go to the test runner.
set -u
cd "$(dirname "$0")/.."
failed=0
if [ $# -eq 0 ]; then
  echo '== format and lint'
  npx biome check --error-on-warnings . || failed=1
  echo '== types'
  npx tsc --noEmit || failed=1
fi
echo '== tests'
report=$(mktemp)
if [ $# -eq 0 ]; then
  npx vitest run --coverage --reporter=default --reporter=json --outputFile.json="$report" || failed=1
else
  npx vitest run --reporter=default --reporter=json --outputFile.json="$report" "$@" || failed=1
fi
node deploy/summary.mjs "$report" "$failed"
status=$?
rm -f "$report"
exit $status
