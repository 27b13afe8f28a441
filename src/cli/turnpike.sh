#!/bin/sh
# Starts Turnpike on the project's own Node.js if there is one, else on the system's.
# Called through a link named like a protocol's program (zene, zot, …) it stands in for that program.
case $0 in
  */*) self=$0 ;;
  *) self=./$0 ;;
esac
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
    echo "turnpike: $root has no dist/turnpike.cjs because the package was packed without its build; install one that npm pack made with scripts enabled" >&2
    exit 3
  fi
  sh "$root/deploy/bootstrap.sh" prepare >&2 || exit 3
fi
node=node
for own in "$root"/.node/node_modules/node-*/bin/node; do
  [ -x "$own" ] && node=$own
done
# The size of V8's young generation in MB, and how much the old one grows before it is collected: by default Node.js lets
# both grow to several times as much and keeps the memory.
garbage='--max-semi-space-size=16 --heap-growing-percent=50'
# The C library gives memory that V8's compiler has used back to the system, and has one heap for all threads.
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-1}"
export MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-131072}"
export MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-131072}"
case ${0##*/}:${1-} in
  *:as | zene:* | zot:* | qwen:*)
    # Short here-documents are pipes, which Node.js cannot make: the streams of the first agent.
    exec 3<<PIPE 4<<PIPE 5<<PIPE
PIPE
PIPE
PIPE
    export TURNPIKE_PIPES=$$
    # A program of one turn need not give memory back, and Node.js has no compiled code of its own modules for a V8 with
    # the second option.
    garbage=${garbage%% *}
    ;;
esac
# The folder of V8's code cache, which is used when it is writable.
export TURNPIKE_CACHE="${TURNPIKE_CACHE:-$root/dist/cache}"
# As it was called: messages name commands so.
TURNPIKE_NAME=$0 exec "$node" $garbage "$root/dist/turnpike.cjs" "$@"
