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
root=$(cd "${self%/*}/../.." && pwd -P) || exit 3
if [ ! -f "$root/dist/turnpike.mjs" ]; then
  sh "$root/deploy/bootstrap.sh" prepare >&2 || exit 3
fi
node=node
for own in "$root"/.node/node_modules/node-*/bin/node; do
  [ -x "$own" ] && node=$own
done
TURNPIKE_NAME=${0##*/} exec "$node" --disable-warning=ExperimentalWarning "$root/dist/turnpike.mjs" "$@"
