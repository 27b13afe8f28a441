#!/bin/sh
# Starts Turnpike on a Node.js that it can run on: the project's own one when there is one, else the system's.
# Called through a link named like a protocol's program (zene, zot, …) it stands in for that program.
self=$0
while [ -L "$self" ]; do
  target=$(readlink "$self")
  case $target in
    /*) self=$target ;;
    *) self=${self%/*}/$target ;;
  esac
done
root=${self%/*}/../..
if [ ! -f "$root/dist/turnpike.cjs" ]; then
  if [ ! -f "$root/deploy/bootstrap.sh" ]; then
    echo "turnpike: $root has no dist/turnpike.cjs: this package was made without its build; install one that npm pack made with scripts enabled" >&2
    exit 3
  fi
  sh "$root/deploy/bootstrap.sh" prepare >&2 || exit 3
fi
node=node
for own in "$root"/.node/node_modules/node-*/bin/node; do
  [ -x "$own" ] && node=$own
done
# Garbage is collected when there is so much of it, in MB: Node.js lets it grow to several times as much, and keeps the
# memory. A stand-in is done before it has as much as it may begin with.
garbage=--max-semi-space-size=8
case ${0##*/}:${1-} in
  *:as | zene:* | zot:* | qwen:*)
    garbage="$garbage --min-semi-space-size=4"
    # Node.js makes no pipes, and a short here-document is one: the streams of the first agent.
    exec 3<<PIPE 4<<PIPE 5<<PIPE
PIPE
PIPE
PIPE
    export TURNPIKE_PIPES=$$
    ;;
esac
# What V8 makes of the code is kept between runs, where the folder can be written to.
export TURNPIKE_CACHE="${TURNPIKE_CACHE:-$root/dist/cache}"
TURNPIKE_NAME=${0##*/} exec "$node" $garbage "$root/dist/turnpike.cjs" "$@"
