#!/bin/sh
# Known weaknesses of the packages that the gateway is made of and built with, as the registry tells them: what is bundled
# is a development dependency of the package, so none is left out. Exits with 1 when there is a serious one; where the
# registry cannot be reached it says so, loudly, and passes.
cd "$(dirname "$0")/.." || exit 1
report=$(npm audit --audit-level=high 2>&1) && { echo "$report"; exit 0; }
case $report in
  *vulnerabilit*) echo "$report"; exit 1 ;;
  *) echo 'turnpike: the audit of the dependencies was SKIPPED: the registry gives no answer to it' >&2 ;;
esac
