#!/bin/sh
# Prepares a machine that only has Node.js and npm, then runs a command:
#   bootstrap.sh build            the build, when a source file is newer than it; the tests call it
#   bootstrap.sh prepare          Node.js of the right version, dependencies, build
#   bootstrap.sh package          the same, then the library; `npm pack` calls it
#   bootstrap.sh start [ARG...]   the same, then `turnpike serve`
#   bootstrap.sh test [ARG...]    the same, then the gates and the test suite
#   bootstrap.sh docs [ARG...]    the same, then the site of the documentation
set -eu
cd "$(dirname "$0")/.."
say() { printf 'turnpike: %s\n' "$*" >&2; }
# What takes its time is said on a terminal alone.
if [ -t 2 ]; then exec 4>&2; else exec 4>/dev/null; fi
progress() { printf 'turnpike: %s\n' "$*" >&4; }

# The build, when a source file is newer than it. It replaces the last one as a whole: that may be running.
build() {
  [ -f dist/turnpike.cjs ] && [ -z "$(find src codecs routes observability console deploy/build.mjs package.json -newer dist/turnpike.cjs -type f | head -n 1)" ] && return
  progress 'building'
  next=node_modules/.cache/turnpike-dist.$$
  rm -rf "$next"
  node deploy/build.mjs "$next/new" >&2
  [ ! -d dist ] || mv dist "$next/old"
  mv "$next/new" dist
  rm -rf "$next"
}
if [ "${1-}" = build ]; then
  build
  exit
fi

# Node.js 22.19 or newer; when the installed one is older, a Node.js 24 is installed from npm into .node.
use_own_node() {
  for bin in "$PWD"/.node/node_modules/node-*/bin; do
    [ -x "$bin/node" ] && PATH=$bin:$PATH && export PATH && return 0
  done
  return 1
}
if ! use_own_node && ! node -e 'const [a, b] = process.versions.node.split("."); process.exit(+a > 22 || (+a === 22 && +b >= 19) ? 0 : 1)'; then
  platform=$(node -p '`${process.platform}-${process.arch}`')
  say "Node.js $(node -v) is too old; fetching Node.js 24 for $platform into .node (once)"
  npm install --prefix .node --no-save --no-package-lock --no-audit --no-fund --loglevel=error "node-$platform@24" >&4
  use_own_node
fi

# Dependencies, when the lock file has changed since they were installed. None runs a script of its own.
if ! cmp -s package-lock.json node_modules/.turnpike-lock; then
  progress 'installing dependencies (npm ci)'
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&4
  cp package-lock.json node_modules/.turnpike-lock
fi

build

case ${1:-start} in
  prepare) ;;
  package)
    rm -rf dist/lib
    exec node_modules/.bin/tsc -p tsconfig.lib.json >&2
    ;;
  start)
    shift
    exec ./src/cli/turnpike.sh serve "$@" 4>&-
    ;;
  test)
    shift
    exec sh deploy/test.sh "$@" 4>&-
    ;;
  docs)
    shift
    if ! cmp -s docs/site/package-lock.json docs/site/node_modules/.turnpike-lock; then
      progress 'installing what makes the site (npm ci in docs/site)'
      (cd docs/site && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error && cp package-lock.json node_modules/.turnpike-lock) >&4
    fi
    exec node docs/site/build.mjs "$@"
    ;;
  *)
    say "unknown command: $1 (build, prepare, package, start, test or docs)"
    exit 2
    ;;
esac
