#!/bin/sh
# The gates, then the suite; the last line is `N passed, N failed, N skipped`. Arguments go to the test runner.
set -u
cd "$(dirname "$0")/.."
failed=0
# Programs of others that some tests run, when their lock file has changed since they were installed. They are not ours
# to demand: where they cannot be had, those tests are skipped by name. The large ones only for TEST_PROGRAMS=all.
programs() { # FOLDER
  cmp -s "$1/package-lock.json" "$1/node_modules/.turnpike-lock" && return
  echo "== programs that the tests run (npm ci in $1)"
  (cd "$1" && npm ci --prefer-offline --loglevel=error && cp package-lock.json node_modules/.turnpike-lock) ||
    echo "turnpike: the programs in $1 could not be installed; the tests that run them are SKIPPED" >&2
}
programs test/programs
programs docs/site
if [ "${TEST_PROGRAMS-}" = all ]; then
  programs test/programs/large
else
  echo 'turnpike: the large programs in test/programs/large are SKIPPED; TEST_PROGRAMS=all runs them' >&2
fi
# Programs of Debian: installed by whoever may, but not where a package would start a service.
may_install() { [ "$(id -u)" -eq 0 ] && [ ! -d /run/systemd/system ] && command -v apt-get >/dev/null; }
has() { # PROGRAM, or a pattern of its path
  [ -n "$(command -v "$1" || ls $1 2>/dev/null)" ]
}
needs() { # PROGRAM PACKAGE
  has "$1" && return
  if [ "$asked" -eq 0 ] && may_install; then
    echo "== $1 (apt-get install $2)"
    install="env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $2"
    $install >/dev/null 2>&1 || { apt-get update -qq && $install >/dev/null; }
  fi
  has "$1" || echo "turnpike: no $1 (Debian: apt-get install $2); the tests that run it are SKIPPED" >&2
}
# Clients for Python, in an environment of their own, when their versions have changed since it was made.
python_programs() { # FOLDER
  cmp -s "$1/requirements.txt" "$1/.venv/.turnpike-lock" && return
  if ! python3 -c 'import venv, ensurepip' 2>/dev/null && [ "$asked" -eq 0 ] && may_install; then
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv >/dev/null 2>&1
  fi
  echo "== clients for Python (python3 -m venv $1/.venv)"
  python3 -m venv "$1/.venv" 2>/dev/null && "$1/.venv/bin/pip" install -q --no-deps -r "$1/requirements.txt" &&
    cp "$1/requirements.txt" "$1/.venv/.turnpike-lock" || {
    rm -rf "$1/.venv"
    echo "turnpike: the clients in $1 could not be installed; the tests that run them are SKIPPED" >&2
  }
}
asked=$#
needs promtool prometheus
needs bwrap bubblewrap
# Their completions are asked for.
needs zsh zsh
needs fish fish
# The tests start servers of their own; the package would start one too.
if may_install && [ ! -e /etc/postgresql-common/createcluster.conf ]; then
  mkdir -p /etc/postgresql-common && echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
fi
needs '/usr/lib/postgresql/*/bin/initdb' postgresql
needs haproxy haproxy
needs chromium chromium
python_programs test/programs/python
if [ $# -eq 0 ]; then
  echo '== format and lint'
  npx biome check --error-on-warnings . || failed=1
  echo '== types'
  npx tsc --noEmit || failed=1
  npx tsc --noEmit -p console || failed=1
  echo '== known weaknesses of dependencies'
  sh deploy/audit.sh || failed=1
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
