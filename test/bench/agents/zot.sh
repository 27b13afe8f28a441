#!/bin/sh
# A zot-RPC process that costs nearly nothing: it answers every prompt with the lines of the file $1, one write each.
# All that it uses is built into the shell, so that a turn starts no process.
LF='
'
set -f
text=$(cat "$1")
IFS=$LF
set -- $text
while IFS= read -r line; do
  id=${line#*\"id\":\"}
  id=${id%%\"*}
  case $line in
    *'"type":"hello"'*)
      printf '{"type":"response","id":"%s","command":"hello","success":true,"data":{"protocol_version":1,"version":"0","provider":"bench","model":"bench-1"}}\n' "$id"
      ;;
    *'"type":"prompt"'*)
      printf '{"type":"response","id":"%s","command":"prompt","success":true,"data":{"started":true}}\n' "$id"
      for frame in "$@"; do printf '%s\n' "$frame"; done
      ;;
    *)
      printf '{"type":"response","id":"%s","command":"other","success":true,"data":{}}\n' "$id"
      ;;
  esac
done
