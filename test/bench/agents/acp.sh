#!/bin/sh
# An ACP process that costs nearly nothing: it answers every prompt with the lines of the file $1, one write each, and
# then with its result. All that it uses is built into the shell.
LF='
'
set -f
text=$(cat "$1")
IFS=$LF
set -- $text
while IFS= read -r line; do
  id=${line#*\"id\":}
  id=${id%%[,\}]*}
  case $line in
    *'"method":"session/prompt"'*)
      for frame in "$@"; do printf '%s\n' "$frame"; done
      printf '{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn"}}\n' "$id"
      ;;
    *'"method":"session/new"'*)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s"}}\n' "$id"
      ;;
    *)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1,"agentCapabilities":{},"authMethods":[]}}\n' "$id"
      ;;
  esac
done
